// The page of `slicewise report --interactive` about a plan in Chromium, held to the program.
//   node trial_plan.mjs CHROMIUM PAGE EXPECTED    EXPECTED: a file of JSON with what the program says
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { violations } from './chromium.mjs';
import { changesOf, openTrial, settled } from './trial_page.mjs';

const [path, expected] = process.argv.slice(3);
const { option, changes, scenario, others } = JSON.parse(readFileSync(expected, 'utf8'));

test('an option is moved: verdict, figures, one scatter and the YAML are those of the program', async () => {
  const { page, wrong, close } = await openTrial(path, { permissions: ['clipboard-read', 'clipboard-write'] });
  const select = page.locator('#trial-variant');
  assert.equal(await select.inputValue(), option);
  assert.deepEqual(await select.locator('option').allTextContents(), [option, ...others]);
  assert.match(await page.locator('#trial-said').textContent(), /^Ready\. ✓ It stands\./);
  const names = await page.locator('#trial-controls label').allTextContents();
  for (const what of ['nodes', 'replicas', 'price', 'load']) {
    assert.ok(names.some((name) => name.includes(what)), what);
  }
  const sliders = page.locator('#trial-controls input');
  await sliders.nth(names.findIndex((name) => name.includes('nodes'))).focus();
  await page.keyboard.press('ArrowRight');
  await settled(page);
  assert.equal(await changesOf(page), changes);
  const scatter = decodeURIComponent(await page.locator('#trial-charts img').first().getAttribute('src'));
  assert.deepEqual([...scatter.matchAll(/<title>[^<]*, (before|after): \$/g)].map(([, when]) => when),
    ['before', 'after']);
  await page.locator('#trial-copy').click();
  await page.locator('#trial-said', { hasText: 'Copied' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied.split('\n').slice(1).join('\n'), scenario);

  // A limit that nothing meets.
  await page.locator('#trial-reset').click();
  await settled(page);
  await sliders.nth(names.findIndex((name) => name.includes('limit of latencyP99'))).focus();
  await page.keyboard.press('Home');
  await page.locator('#trial-said', { hasText: /^✗ "classifier" misses latencyP99.*All replications/ }).waitFor();

  await select.selectOption(others.at(-1));
  await page.locator('#trial-said', { hasText: 'Ready.' }).waitFor();
  assert.equal(await page.locator('#trial-changes').textContent(), 'Nothing was moved.');
  assert.deepEqual(await violations(page, '#trial'), []);
  assert.deepEqual(wrong, []);
  if (process.env.SLICEWISE_SCREENSHOTS) {
    await page.locator('#trial').screenshot({ path: process.env.SLICEWISE_SCREENSHOTS + '/trial-plan.png' });
  }
  await close();
});

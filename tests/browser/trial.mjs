// The page of `slicewise report --interactive` about a scenario in Chromium, held to the program.
//   node trial.mjs CHROMIUM PAGE EXPECTED    EXPECTED: a file of JSON with what the program says
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { overflow, phone, violations } from './chromium.mjs';
import { changesOf, openTrial, settled } from './trial_page.mjs';

const [path, expected] = process.argv.slice(3);
const { changes, scenario } = JSON.parse(readFileSync(expected, 'utf8'));

const open = (options) => openTrial(path, options);

test('each slider moves by keyboard and is simulated; the figures are those of the program', async () => {
  const { page, wrong, close } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
  await page.locator('#trial-variant').selectOption('shared');
  await page.locator('#trial-said', { hasText: 'Ready.' }).waitFor();
  const sliders = page.locator('#trial-controls input');
  const names = await page.locator('#trial-controls label').allTextContents();
  for (const what of ['nodes', 'replicas', 'turn', 'price', 'load', 'limit']) {
    assert.ok(names.some((name) => name.includes(what)), what);
  }
  for (let n = 0; n < names.length; ++n) {
    const before = await page.locator('#trial-changes').textContent();
    await sliders.nth(n).focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(
      (text) => document.getElementById('trial-changes').textContent !== text, before);
    assert.doesNotMatch(await page.locator('#trial-changes').textContent(), /error\[/, names[n]);
  }
  await page.locator('#trial-reset').click();
  await sliders.first().focus();
  await page.keyboard.press('ArrowRight');
  await settled(page);
  assert.match(await page.locator('#trial-said').textContent(), /^✓ It stands\./);
  assert.equal(await changesOf(page), changes);
  // One scatter with both points, and latency before and after.
  assert.deepEqual(await page.locator('#trial-charts img').evaluateAll(
    (pictures) => pictures.filter((picture) => picture.complete && picture.naturalWidth > 0)
      .map((picture) => picture.alt)),
  ['Cost against what it does, before and after', 'Latency, before', 'Latency, after']);
  const scatter = decodeURIComponent(await page.locator('#trial-charts img').first().getAttribute('src'));
  assert.deepEqual([...scatter.matchAll(/<title>[^<]*, (before|after): \$/g)].map(([, when]) => when),
    ['before', 'after']);
  await page.locator('#trial-copy').click();
  await page.locator('#trial-said', { hasText: 'Copied' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied.split('\n').slice(1).join('\n'), scenario);
  assert.deepEqual(wrong, []);
  if (process.env.SLICEWISE_SCREENSHOTS) {
    await page.locator('#trial').screenshot({ path: process.env.SLICEWISE_SCREENSHOTS + '/trial.png' });
  }
  await close();
});

test('an objective that is missed is said', async () => {
  const { page, wrong, close } = await open();
  const names = await page.locator('#trial-controls label').allTextContents();
  const limit = names.findIndex((name) => name.includes('limit of latencyP99'));
  await page.locator('#trial-controls input').nth(limit).focus();
  await page.keyboard.press('Home');
  await settled(page);
  assert.match(await page.locator('#trial-said').textContent(), /^✗ "classifier" misses latencyP99/);
  assert.deepEqual(wrong, []);
  await close();
});

test('moves faster than it simulates: the last one counts', async () => {
  const { page, wrong, close } = await open();
  await page.locator('#trial-controls input').nth(5).focus();
  for (let n = 0; n < 15; ++n) await page.keyboard.press('ArrowRight');
  await settled(page);
  const now = await page.locator('#trial-controls output').nth(5).textContent();
  assert.ok((await page.locator('#trial-changes').textContent()).includes(now), now);
  assert.deepEqual(wrong, []);
  await close();
});

test('what is moved is answered while it goes on moving', async () => {
  const { page, wrong, close } = await open();
  const shown = await page.evaluate(async () => {
    const slider = document.querySelectorAll('#trial-controls input')[5];
    const told = new Set();
    for (let n = 0; n < 100; ++n) {
      slider.value = Number(slider.min) + (n % 10 + 1) * Number(slider.step);
      slider.dispatchEvent(new Event('input'));
      await new Promise((resolve) => { setTimeout(resolve, 15); });
      told.add(document.getElementById('trial-changes').textContent);
    }
    return told.size;
  });
  assert.ok(shown > 3, `${shown} different answers in 1.5 s`);
  await settled(page);
  assert.deepEqual(wrong, []);
  await close();
});

test('an answer without all renderings has the same bytes', async () => {
  const { page, close } = await open();
  const [all, some] = await page.evaluate(async () => {
    const input = JSON.parse(document.getElementById('trial-input').textContent);
    const [{ text }] = Object.values(input.variants);
    return Promise.all([true, false].map((rendersAll) => new Slicewise({ rendersAll })
      .call(['run', '-f', input.file, '-o', 'json', '-q'], { [input.file]: text })));
  });
  assert.equal(some.files[''], all.files['']);
  assert.ok('latency-1.svg' in some.renderings);
  assert.deepEqual(some.renderings, Object.fromEntries(
    Object.entries(all.renderings).filter(([name]) => name.startsWith('latency-'))));
  assert.ok(Object.keys(all.renderings).includes('yaml'));
  await close();
});

test('accessible, light and dark, and on a phone', async () => {
  const { page, close } = await open({ viewport: phone });
  await page.locator('#trial-controls input').first().focus();
  await page.keyboard.press('ArrowRight');
  await settled(page);
  assert.ok(await overflow(page) <= 0);
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await violations(page, '#trial'), []);
  }
  await close();
});

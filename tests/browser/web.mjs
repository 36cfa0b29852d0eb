// The page of tools/web in Chromium, held to the program: the same figures, by keyboard alone, on a phone.
//   node web.mjs CHROMIUM PAGE EXPECTED    EXPECTED: a file of JSON with what the program says
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { open as openPage, overflow, phone, violations } from './chromium.mjs';

const [path, expected] = process.argv.slice(3);
const { csv, jobs, plan, findings, trace, replayed } = JSON.parse(readFileSync(expected, 'utf8'));

async function open(options = {}) {
  const opened = await openPage(path, { makes: /^(blob:|about:|data:)/, ...options });
  opened.page.setDefaultTimeout(120_000);
  await opened.page.locator('#start optgroup').nth(1).waitFor({ state: 'attached' });
  return opened;
}

// Python reads the line ends of CSV as those of its own.
const shown = async (page) => (await page.locator('#table').textContent()).replaceAll('\r\n', '\n');
const exited = (page) => page.locator('#said', { hasText: /^Exit code/ }).waitFor();
const idle = (page) => page.locator('#answer[aria-busy=false]').waitFor();

test('one click answers the example that the page opens with', async () => {
  const { page, wrong, close } = await open();
  await page.locator('[data-verb=run]').click();
  await exited(page);
  await idle(page);
  await page.locator('#format').selectOption('csv');
  assert.equal(await shown(page), csv);
  await page.locator('#files').setInputFiles([{ name: 'own.yaml', mimeType: 'text/plain', buffer: Buffer.from('a: 1') }]);
  await page.waitForFunction(() => document.getElementById('name').value === 'own.yaml');
  assert.deepEqual(await page.locator('#chosen option').allTextContents(), ['own.yaml']);
  assert.deepEqual(wrong, []);
  await close();
});

test('an example by keyboard alone: figures of the program, and its report', async () => {
  const { page, wrong, close } = await open();
  const tabTo = async (id) => {
    for (let n = 0; n < 40; ++n) {
      if (await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.verb) === id) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`${id} is not reached by Tab`);
  };
  await tabTo('start');
  // What typing chooses in a select: the option that begins so.
  await page.keyboard.type('aws-cifar10.yaml');
  await page.keyboard.press('Tab');
  await page.waitForFunction(() => document.getElementById('name').value === 'aws-cifar10.yaml');
  await tabTo('run');
  await page.keyboard.press('Enter');
  await exited(page);
  await idle(page);
  assert.equal(await page.locator('#said').textContent().then((text) => text.split(',')[0]), 'Exit code 6');
  await page.locator('#format').selectOption('csv');
  assert.equal(await shown(page), jobs);
  const report = page.frameLocator('#report');
  await report.locator('#verdict h2').waitFor();
  await report.locator('.scripted').waitFor({ state: 'attached' });  // its script runs
  assert.deepEqual(wrong, []);
  await close();
});

test('a plan, with its report', async () => {
  const { page, wrong, close } = await open();
  await page.locator('#start').selectOption('example shared-inference.yaml');
  await page.locator('#instances').fill('g4dn.xlarge');
  await page.locator('#flags').fill('--variant shared --replications 2');
  await page.locator('[data-verb=plan]').click();
  await exited(page);
  await idle(page);
  await page.locator('#format').selectOption('csv');
  assert.equal(await shown(page), plan);
  await page.frameLocator('#report').locator('#verdict h2').waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('manifests are checked, a packed trace is replayed, mistakes are shown', async () => {
  const { page, wrong, close } = await open();
  await page.locator('#files').setInputFiles(Object.entries(findings.files).map(
    ([name, text]) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })));
  await page.locator('#chosen option').nth(1).waitFor({ state: 'attached' });
  await page.locator('[data-verb=check]').click();
  await exited(page);
  await idle(page);
  assert.equal(await shown(page), findings.text);

  await page.locator('#files').setInputFiles(
    [{ name: trace.name, mimeType: 'application/gzip', buffer: Buffer.from(trace.base64, 'base64') }]);
  await page.waitForFunction((name) => document.getElementById('name').value === name, trace.name);
  await page.locator('#instances').fill('p4d.24xlarge=2');
  await page.locator('[data-verb=replay]').click();
  await page.locator('#command', { hasText: 'replay' }).waitFor();
  await exited(page);
  await idle(page);
  await page.locator('#format').selectOption('csv');
  assert.equal(await shown(page), replayed);

  await page.locator('#add').click();
  await page.locator('#text').fill('apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetdata: {name: x}\n');
  await page.locator('[data-verb=run]').click();
  await page.locator('#said', { hasText: /^Exit code 3/ }).waitFor();
  assert.match(await page.locator('#errors').textContent(), /file-1\.yaml:3:1: error\[FIELD_UNKNOWN\]/);
  assert.deepEqual(wrong, []);
  await close();
});

test('the page never waits for the engine, and stops it', async () => {
  const { page, close } = await open();
  await page.locator('#start').selectOption('example voice-pipeline.yaml');
  await page.locator('#flags').fill('--replications 2000');
  await page.locator('[data-verb=run]').click();
  await page.locator('#progress[value]').waitFor();
  // Frames go on being drawn while it simulates.
  await page.evaluate(() => new Promise((done) => {
    let frames = 0;
    const next = () => (++frames === 30 ? done() : requestAnimationFrame(next));
    requestAnimationFrame(next);
  }));
  assert.ok(await page.locator('#stop').isEnabled());
  await page.locator('#stop').click();
  await page.locator('#said', { hasText: 'Stopped' }).waitFor();
  await page.locator('#flags').fill('--replications 1');
  await page.locator('[data-verb=check]').click();
  await page.locator('#said', { hasText: /^Exit code 2/ }).waitFor();  // check has no such flag
  await close();
});

test('accessible, light and dark, and on a phone', async () => {
  const { page, close } = await open({ viewport: phone });
  await page.locator('#start').selectOption('example aws-cifar10.yaml');
  await page.locator('[data-verb=run]').click();
  await exited(page);
  await idle(page);
  assert.ok(await overflow(page) <= 0);
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await violations(page), []);
  }
  if (process.env.SLICEWISE_SCREENSHOTS) {
    await page.screenshot({ path: process.env.SLICEWISE_SCREENSHOTS + '/web-phone.png', fullPage: true });
    await page.setViewportSize({ width: 1366, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.screenshot({ path: process.env.SLICEWISE_SCREENSHOTS + '/web.png', fullPage: true });
  }
  await close();
});

test('the network is refused', async () => {
  const { page, close } = await open();
  const answer = await page.evaluate(() => fetch('https://example.com').then(() => 'answered', () => 'refused'));
  assert.equal(answer, 'refused');
  await close();
});

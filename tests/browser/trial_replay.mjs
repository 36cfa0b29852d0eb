// The page of `slicewise report --interactive` about a replay in Chromium, held to the program.
//   node trial_replay.mjs CHROMIUM PAGE EXPECTED    EXPECTED: a file of JSON with what the program says
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { overflow, phone, violations } from './chromium.mjs';
import { openTrial } from './trial_page.mjs';

const [path, expected] = process.argv.slice(3);
const { before, after, command } = JSON.parse(readFileSync(expected, 'utf8'));
const changes = (page) => page.locator('#trial-changes').textContent();
const moved = (page) => page.locator('#trial-said', { hasText: 'All jobs, in' }).waitFor();

test('what is moved by keyboard is replayed; the figures are those of the program', async () => {
  const { page, wrong, close } = await openTrial(path, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.locator('#trial-variant').selectOption('time-slicing:4');
  await page.locator('#trial-said', { hasText: 'Ready' }).waitFor();
  await page.waitForFunction((text) => document.getElementById('trial-changes').textContent === text, before);
  await page.locator('#trial-controls input').first().focus();
  await page.keyboard.press('ArrowRight');
  await moved(page);
  await page.locator('#trial-controls select').first().selectOption('mps');
  await page.waitForFunction((text) => document.getElementById('trial-changes').textContent === text,
    `BEFORE\n${before.split('\nNOTES')[0]}\nAFTER\n${after}`);
  assert.deepEqual(await page.locator('#trial-charts img').evaluateAll(
    (pictures) => pictures.filter((picture) => picture.complete && picture.naturalWidth > 0)
      .map((picture) => picture.alt)), ['Jobs that wait, before and after']);
  // Both lines have one scale: they are in one chart.
  const chart = decodeURIComponent(await page.locator('#trial-charts img').getAttribute('src'));
  assert.deepEqual([...chart.matchAll(/data-name="([^"]*)"/g)].map(([, name]) => name), ['before', 'after']);
  // A page has no flags to see more by.
  assert.doesNotMatch(await changes(page), /-o wide/);
  await page.locator('#trial-copy').click();
  await page.locator('#trial-said', { hasText: 'Copied' }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), command);
  // Muri does not go with sharing, and says so.
  await page.locator('#trial-controls select').nth(1).selectOption('muri');
  await page.locator('#trial-said', { hasText: 'This cannot be replayed.' }).waitFor();
  assert.match(await changes(page), /--sharing does not go with --queue/);
  await page.locator('#trial-reset').click();
  await moved(page);
  assert.deepEqual(wrong, []);
  if (process.env.SLICEWISE_SCREENSHOTS) {
    await page.locator('#trial').screenshot({ path: process.env.SLICEWISE_SCREENSHOTS + '/trial_replay.png' });
  }
  await close();
});

test('accessible, light and dark, and on a phone', async () => {
  const { page, close } = await openTrial(path, { viewport: phone });
  assert.ok(await overflow(page) <= 0);
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await violations(page, '#trial'), []);
  }
  await close();
});

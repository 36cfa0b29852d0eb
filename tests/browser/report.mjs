// Opens pages of `slicewise report -o html` in Chromium and holds them to what they promise.
//   node report.mjs CHROMIUM PAGE...
// With SLICEWISE_SCREENSHOTS=DIR it leaves pictures there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createRequire } from 'node:module';
import { test, after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [executablePath, ...pages] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const desktop = { width: 1366, height: 768 };
const phone = { width: 390, height: 844 };
const screenshots = process.env.SLICEWISE_SCREENSHOTS;

const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
after(() => browser.close());

// A page that fails the test when it asks for anything, or logs an error.
async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: desktop, ...options });
  const page = await context.newPage();
  const address = pathToFileURL(path).href;
  const wrong = [];
  page.on('request', (request) => {
    if (request.url() !== address) wrong.push('asked for ' + request.url());
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(String(error)));
  await page.goto(address);
  return { page, wrong, close: () => context.close() };
}

const overflow = (page) => page.evaluate(
  () => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function violations(page) {
  // As test code, not as content: the page's own policy lets in nothing.
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(() => axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }));
  return found.map(({ id, nodes }) =>
    id + ': ' + nodes.slice(0, 3).map((n) => n.html.slice(0, 120) + ' ' +
      (n.any[0]?.message ?? '')).join(' | '));
}

const openAll = (page) => page.evaluate(
  () => document.querySelectorAll('details').forEach((d) => { d.open = true; }));

for (const path of pages) {
  const name = basename(path, '.html');

  test(`${name}: reads without JavaScript, verdict and options on the first screen`, async () => {
    const { page, wrong, close } = await open(path, { javaScriptEnabled: false });
    assert.ok(await page.locator('#verdict h2').isVisible());
    assert.ok((await page.locator('#verdict tbody tr').count()) > 0);
    assert.equal(await page.locator('.js:visible').count(), 0, 'buttons that do nothing');
    const box = await page.locator('#verdict').boundingBox();
    assert.ok(box.y + box.height <= desktop.height, `first screen ends at ${box.y + box.height}`);
    if (screenshots) await page.screenshot({ path: join(screenshots, `${name}-first.png`) });
    assert.deepEqual(wrong, []);
    await close();
  });

  for (const colorScheme of ['light', 'dark']) {
    test(`${name}: no accessibility violations, ${colorScheme}`, async () => {
      const { page, wrong, close } = await open(path, { colorScheme });
      await openAll(page);
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(wrong, []);
      if (screenshots) {
        await page.screenshot({ path: join(screenshots, `${name}-${colorScheme}.png`), fullPage: true });
      }
      await close();
    });
  }

  test(`${name}: fits a phone`, async () => {
    const { page, close } = await open(path, { viewport: phone });
    assert.ok(await overflow(page) <= 0, `${await overflow(page)} px too wide`);
    if (screenshots) {
      await page.screenshot({ path: join(screenshots, `${name}-phone.png`) });
    }
    await openAll(page);
    assert.ok(await overflow(page) <= 0, `${await overflow(page)} px too wide when unfolded`);
    await close();
  });

  test(`${name}: sorts, by keyboard as well`, async () => {
    const { page, wrong, close } = await open(path);
    const table = page.locator('#verdict table.sortable');
    const head = table.locator('thead th', { hasText: '$/month' });
    const column = await head.evaluate((th) => th.cellIndex);
    const values = () => table.locator('tbody tr').evaluateAll(
      (rows, c) => rows.map((row) => Number(row.cells[c].dataset.v)).filter((v) => !isNaN(v)),
      column);
    await head.locator('button').focus();
    await page.keyboard.press('Enter');
    assert.equal(await head.getAttribute('aria-sort'), 'ascending');
    const up = await values();
    assert.deepEqual(up, [...up].sort((a, b) => a - b));
    await head.locator('button').click();
    assert.equal(await head.getAttribute('aria-sort'), 'descending');
    const down = await values();
    assert.deepEqual(down, [...down].sort((a, b) => b - a));
    assert.equal(await table.locator('[aria-sort]').count(), 1);
    assert.deepEqual(wrong, []);
    await close();
  });

  test(`${name}: copies what it shows`, async () => {
    const { page, wrong, close } = await open(path,
      { permissions: ['clipboard-read', 'clipboard-write'] });
    const button = page.locator('button[data-copy=command]');
    const shown = await page.locator('#command').textContent();
    await button.click();
    await button.filter({ hasText: 'Copied' }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), shown);
    const targets = await page.locator('button.copy').evaluateAll(
      (buttons) => buttons.map((b) => document.getElementById(b.dataset.copy) !== null));
    assert.ok(targets.every(Boolean), 'a button copies nothing');
    assert.deepEqual(wrong, []);
    await close();
  });

  test(`${name}: changes its theme`, async () => {
    const { page, close } = await open(path, { colorScheme: 'light' });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.locator('#theme').click();
    await page.locator('#theme').click();
    assert.match(await page.locator('#theme').textContent(), /dark/);
    assert.notEqual(await ground(), light);
    await page.locator('#theme').click();
    assert.equal(await ground(), light);
    await close();
  });

  test(`${name}: switches between views of its GPUs, without JavaScript as well`, async () => {
    const { page, wrong, close } = await open(path, { javaScriptEnabled: false });
    assert.ok(await page.locator('.view-0').isVisible());
    assert.ok(!await page.locator('.view-2').isVisible());
    await page.locator('#view-2').check();
    assert.ok(await page.locator('.view-2').isVisible());
    assert.ok(!await page.locator('.view-0').isVisible());
    assert.deepEqual(wrong, []);
    await close();
  });

  test(`${name}: its links lead somewhere, its skip link first`, async () => {
    const { page, close } = await open(path);
    const dead = await page.locator('a[href^="#"]').evaluateAll(
      (links) => links.map((a) => a.getAttribute('href').slice(1))
        .filter((id) => document.getElementById(id) === null));
    assert.deepEqual(dead, []);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    const twice = await page.evaluate(() => {
      const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
      return ids.filter((id, i) => ids.indexOf(id) !== i);
    });
    assert.deepEqual(twice, []);
    await close();
  });
}

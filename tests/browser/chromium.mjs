// What the tests of pages have in common: Chromium, a page that notes what goes wrong on it, and axe.
// The first argument of each test names the Chromium.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const desktop = { width: 1366, height: 768 };
export const phone = { width: 390, height: 844 };

export const browser = await chromium.launch({
  executablePath: process.argv[2],
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
after(() => browser.close());

// The file as a page whose `wrong` has what it asked for, beside what it makes itself, and what it logged.
export async function open(path, { makes = /^$/, ...options } = {}) {
  const context = await browser.newContext(
    { viewport: desktop, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const address = pathToFileURL(path).href;
  const wrong = [];
  page.on('request', (request) => {
    const asked = request.url();
    if (asked !== address && !makes.test(asked)) wrong.push('asked for ' + asked);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(String(error)));
  await page.goto(address);
  return { page, wrong, close: () => context.close() };
}

export const overflow = (page) => page.evaluate(
  () => document.documentElement.scrollWidth - document.documentElement.clientWidth);

// What axe finds in the element that a selector names; frames are pages of their own.
export async function violations(page, within = 'html') {
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate((element) => axe.run(document.querySelector(element), {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    iframes: false,
  }), within);
  return found.map(({ id, nodes }) =>
    id + ': ' + nodes.slice(0, 3).map((n) => n.html.slice(0, 120) + ' ' +
      (n.any[0]?.message ?? '')).join(' | '));
}

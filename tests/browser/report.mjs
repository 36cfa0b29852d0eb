// Opens pages of `slicewise report -o html` in Chromium and holds them to what they promise.
//   node report.mjs CHROMIUM PAGE...
// With SLICEWISE_SCREENSHOTS=DIR it leaves pictures there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { browser, desktop, open, overflow, phone, violations } from './chromium.mjs';

const given = process.argv.slice(3);
// That of a trace has parts of its own.
const isReplay = (page) => basename(page) === 'replay.html';
const pages = given.filter((page) => !isReplay(page));
const screenshots = process.env.SLICEWISE_SCREENSHOTS;
// What the page "jobs" looked like when somebody last looked at it.
const pictures = {
  desktop: fileURLToPath(new URL('../../reports/html/first-screen.png', import.meta.url)),
  phone: fileURLToPath(new URL('first-screen-phone.png', import.meta.url)),
};

const openAll = (page) => page.evaluate(
  () => document.querySelectorAll('details').forEach((d) => { d.open = true; }));

const keep = async (page, name, options = {}) => {
  if (screenshots) await page.screenshot({ path: join(screenshots, name + '.png'), ...options });
};

// How a picture differs from the one before, in grey cells of 8 x 8 pixels. Fonts and their edges
// differ between machines, so pixels say little: what counts is where something is drawn, and how
// much of it there is in each part of the page.
async function compared(blank, reference, shown, boxes) {
  const asText = (bytes) => Buffer.from(bytes).toString('base64');
  return blank.evaluate(async ({ both, parts }) => {
    const [before, now] = await Promise.all(both.map(async (png) => {
      const image = new Image();
      image.src = 'data:image/png;base64,' + png;
      await image.decode();
      return image;
    }));
    const [columns, rows] = [Math.floor(before.width / 8), Math.floor(before.height / 8)];
    const ink = (image) => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [columns, rows];
      const context = canvas.getContext('2d', { willReadFrequently: true });
      context.imageSmoothingQuality = 'high';
      context.drawImage(image, 0, 0, 8 * columns, 8 * rows, 0, 0, columns, rows);
      const { data } = context.getImageData(0, 0, columns, rows);
      return Array.from({ length: columns * rows }, (_, i) =>
        255 - 0.3 * data[4 * i] - 0.59 * data[4 * i + 1] - 0.11 * data[4 * i + 2]);
    };
    const [a, b] = [ink(before), ink(now)];
    const drawn = a.map((grey, i) => i).filter((i) => Math.max(a[i], b[i]) > 12);
    const differs = drawn.filter((i) => Math.abs(a[i] - b[i]) > 24).length / drawn.length;
    const sum = (greys, box) => {
      let total = 0;
      for (let y = Math.ceil(box.y / 8); y < Math.min(rows, (box.y + box.height) / 8); ++y) {
        for (let x = Math.ceil(box.x / 8); x < Math.min(columns, (box.x + box.width) / 8); ++x) {
          total += greys[y * columns + x];
        }
      }
      return total;
    };
    return { differs, ink: parts.map((box) => sum(b, box) / sum(a, box)) };
  }, { both: [asText(reference), asText(shown)], parts: boxes });
}

// What is wrong with a first screen: [] when it looks as it did.
async function wrongWith(page, blank, reference, parts) {
  const boxes = [];
  for (const part of parts) boxes.push(await page.locator(part).first().boundingBox());
  const { differs, ink } = await compared(blank, reference, await page.screenshot(), boxes);
  const wrong = parts.filter((_, i) => !(ink[i] > 0.6 && ink[i] < 1.6))
    .map((part) => part + ' is drawn with much less or more');
  if (differs > 0.3) wrong.push(`${(100 * differs).toFixed(0)} % of what is drawn is elsewhere`);
  return wrong;
}

for (const path of pages) {
  const name = basename(path, '.html');

  test(`${name}, without JavaScript`, async (t) => {
    const { page, wrong, close } = await open(path, { javaScriptEnabled: false });
    await t.test('reads, verdict and options on the first screen', async () => {
      assert.ok(await page.locator('#verdict h2').isVisible());
      assert.ok((await page.locator('#verdict tbody tr').count()) > 0);
      assert.equal(await page.locator('.js:visible').count(), 0, 'buttons that do nothing');
      const box = await page.locator('#verdict').boundingBox();
      assert.ok(box.y + box.height <= desktop.height, `first screen ends at ${box.y + box.height}`);
      await keep(page, `${name}-first`);
    });
    await t.test('switches between views of its GPUs', async () => {
      assert.ok(await page.locator('.view-0').isVisible());
      assert.ok(!await page.locator('.view-2').isVisible());
      await page.locator('#view-2').check();
      assert.ok(await page.locator('.view-2').isVisible());
      assert.ok(!await page.locator('.view-0').isVisible());
    });
    assert.deepEqual(wrong, []);
    await close();
  });

  test(`${name}, with JavaScript`, async (t) => {
    const { page, wrong, close } = await open(path,
      { colorScheme: 'light', permissions: ['clipboard-read', 'clipboard-write'] });

    await t.test('starts with its skip link; links lead somewhere', async () => {
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
    });

    await t.test('shows the whole table of options, however long their names', async () => {
      const hidden = await page.evaluate(() => {
        const name = document.querySelector('.choice tbody th');
        const before = name.textContent;
        name.textContent = '2 x g4dn.xlarge, time-slicing x3 (classifier, trainer) + ' +
          '1 x p4d.24xlarge, MIG 7x1g.5gb (embedder, reranker, transcriber)';
        const box = document.querySelector('.choice .scroll');
        const clipped = box.scrollWidth - box.clientWidth;
        name.textContent = before;
        return clipped;
      });
      assert.equal(hidden, 0);
      const clipped = await page.evaluate(() => [...document.querySelectorAll('figure:not(.below) .scroll')]
        .filter((box) => box.offsetParent !== null && box.scrollWidth > box.clientWidth)
        .map((box) => box.getAttribute('aria-label')));
      assert.deepEqual(clipped, []);
    });

    await t.test('leads from a point to its row, by keyboard', async () => {
      const points = page.locator('#verdict svg a');
      assert.ok((await points.count()) > 0);
      const point = points.first();
      assert.ok((await point.getAttribute('aria-label')).length > 0);
      const stroke = () => point.locator('path').last().evaluate(
        (path) => getComputedStyle(path).stroke + getComputedStyle(path).strokeWidth);
      const before = await stroke();
      await page.locator('#verdict .plot').first().focus();
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement.tagName), 'a');
      assert.notEqual(await stroke(), before, 'focus does not show');
      await page.keyboard.press('Enter');
      const row = await page.evaluate(() => document.querySelector(':target'));
      assert.ok(row !== null);
      assert.equal(await page.locator('tr:target, section:target').count(), 1);
    });

    await t.test('sorts, by keyboard as well', async () => {
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
    });

    await t.test('shows one moment in all charts over time, and a part of the run', async () => {
      const plots = page.locator('#time .plot');
      const readouts = page.locator('#time .readout');
      assert.equal(await readouts.count(), await plots.count());
      await plots.first().focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      const words = await readouts.allTextContents();
      // One moment, and a figure for each line of the chart.
      assert.equal(new Set(words.map((text) => text.split(': ')[0])).size, 1);
      assert.match(words[0], /^[0-9.hms ]+: \S+ [0-9–]/);
      const place = await page.locator('#time .cursor').first().getAttribute('d');
      assert.match(place, /^M[0-9.]+ [0-9.]+V/);
      await page.keyboard.press('+');
      assert.equal(await page.locator('#time svg.zoomed').count(), await plots.count());
      assert.ok((await page.locator('#time .zoomticks text').count()) >= 2);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('#time svg.zoomed').count(), 0);
      assert.deepEqual([...new Set(await readouts.allTextContents())], ['']);
      const chart = page.locator('#time svg').first();
      await chart.scrollIntoViewIfNeeded();
      const box = await chart.boundingBox();
      await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.5);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5);
      await page.mouse.up();
      assert.equal(await page.locator('#time svg.zoomed').count(), await plots.count());
      await page.mouse.dblclick(box.x + box.width * 0.4, box.y + box.height * 0.5);
      assert.equal(await page.locator('#time svg.zoomed').count(), 0);
    });

    await t.test('copies what it shows', async () => {
      const button = page.locator('button[data-copy=command]');
      const shown = await page.locator('#command').textContent();
      await button.click();
      await button.filter({ hasText: 'Copied' }).waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), shown);
      const targets = await page.locator('button.copy').evaluateAll(
        (buttons) => buttons.map((b) => document.getElementById(b.dataset.copy) !== null));
      assert.ok(targets.every(Boolean), 'a button copies nothing');
    });

    await t.test('changes its theme', async () => {
      const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const light = await ground();
      await page.locator('#theme').click();
      await page.locator('#theme').click();
      assert.match(await page.locator('#theme').textContent(), /dark/);
      assert.notEqual(await ground(), light);
      await page.locator('#theme').click();
      assert.equal(await ground(), light);
    });

    // As test code, not as content: the page's own policy lets in nothing.
    await openAll(page);
    for (const colorScheme of ['light', 'dark']) {
      await t.test(`has no accessibility violations, ${colorScheme}`, async () => {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await violations(page), []);
        await keep(page, `${name}-${colorScheme}`, { fullPage: true });
      });
    }
    assert.deepEqual(wrong, []);
    await close();
  });

  test(`${name}, on a phone`, async (t) => {
    const { page, close } = await open(path, { viewport: phone });
    await t.test('fits, unfolded as well', async () => {
      assert.ok(await overflow(page) <= 0, `${await overflow(page)} px too wide`);
      await keep(page, `${name}-phone`);
      await openAll(page);
      assert.ok(await overflow(page) <= 0, `${await overflow(page)} px too wide when unfolded`);
    });
    await t.test('names the lines of a chart where one sees them', async () => {
      const unnamed = await page.locator('figure:has(path.series ~ path.series)').evaluateAll((figures) => figures
        .filter((figure) => figure.checkVisibility() && ![...figure.querySelectorAll('.key span')].some(
          (name) => name.checkVisibility() && name.getBoundingClientRect().right <= innerWidth))
        .map((figure) => figure.textContent.slice(0, 60)));
      assert.deepEqual(unnamed, []);
    });
    await close();
  });
}

for (const path of given.filter(isReplay)) {
  test('the page of a trace', async (t) => {
    const { page, wrong, close } = await open(path, { colorScheme: 'light' });
    await t.test('has its verdict and all ways on the first screen', async () => {
      const box = await page.locator('#verdict').boundingBox();
      assert.ok(box.y + box.height <= desktop.height, `first screen ends at ${box.y + box.height}`);
      assert.equal(await page.locator('#verdict tbody tr').count(), 4);
      assert.ok(await page.locator('#verdict .scroll').evaluate(
        (scroll) => scroll.scrollWidth <= scroll.clientWidth), 'its table is cut off');
      await keep(page, 'replay-first');
    });
    await t.test('has charts and links that lead somewhere', async () => {
      for (const id of ['time', 'jobs', 'users', 'cost']) {
        assert.ok((await page.locator(`#${id} svg`).count()) > 0, id);
      }
      const dead = await page.locator('a[href^="#"]').evaluateAll(
        (links) => links.map((a) => a.getAttribute('href').slice(1))
          .filter((id) => document.getElementById(id) === null));
      assert.deepEqual(dead, []);
    });
    await t.test('shows one moment in all charts over time', async () => {
      const readouts = page.locator('#time .readout');
      assert.equal(await readouts.count(), 3);
      await page.locator('#time .plot').first().focus();
      await page.keyboard.press('ArrowRight');
      const words = await readouts.allTextContents();
      assert.equal(new Set(words.map((text) => text.split(': ')[0])).size, 1);
    });
    await openAll(page);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(page), []);
      await keep(page, `replay-${colorScheme}`, { fullPage: true });
    }
    for (const viewport of [desktop, phone]) {
      await page.setViewportSize(viewport);
      assert.ok(await overflow(page) <= 0, `${await overflow(page)} px too wide`);
    }
    assert.deepEqual(wrong, []);
    await close();
  });
}

test('the first screens look as they did', async (t) => {
  const path = pages.find((page) => basename(page) === 'jobs.html');
  const blank = await (await browser.newContext()).newPage();
  for (const [kind, viewport] of Object.entries({ desktop, phone })) {
    const { page, close } = await open(path, { viewport, colorScheme: 'light' });
    const reference = readFileSync(pictures[kind]);
    // The table is below the edge of a phone.
    const parts = ['#verdict h2', '.tiles', '.choice .plot', '.choice .scroll'];
    if (kind === 'phone') parts.pop();
    await keep(page, basename(pictures[kind], '.png'));
    await t.test(kind, async () => {
      assert.deepEqual(await wrongWith(page, blank, reference, parts), [],
        `unlike ${pictures[kind]}: look at both; tests/README.md says how to take it anew`);
    });
    const style = (selector, name, value) => page.locator(selector).first().evaluate(
      (element, [n, v]) => { element.style[n] = v; }, [name, value]);
    await t.test(`${kind}, in another font`, async () => {
      await style('body', 'fontFamily', 'serif');
      assert.deepEqual(await wrongWith(page, blank, reference, parts), []);
      await style('body', 'fontFamily', '');
    });
    for (const part of parts) {
      await t.test(`${kind} would show that ${part} is missing`, async () => {
        await style(part, 'visibility', 'hidden');
        assert.notDeepEqual(await wrongWith(page, blank, reference, parts), []);
        await style(part, 'visibility', '');
      });
    }
    await t.test(`${kind} would show that all lies lower`, async () => {
      await style('main', 'paddingTop', '40px');
      assert.notDeepEqual(await wrongWith(page, blank, reference, parts), []);
    });
    await close();
  }
});

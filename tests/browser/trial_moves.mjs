// How soon pages of `slicewise report --interactive` answer a move in Chromium.
//   node trial_moves.mjs CHROMIUM PAGE EXPECTED    EXPECTED: a file of JSON with the pages, PAGE beside them
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openTrial, settled } from './trial_page.mjs';

const { pages } = JSON.parse(readFileSync(process.argv[4], 'utf8'));
const mostMs = 200;
const tries = 3;  // the machine does other things, too: one that is in time will do

// ms to the answer of each move: to that of the first, and of every slider by a step, one after the other.
async function timesOf(path) {
  const { page, wrong, close } = await openTrial(path);
  const sliders = Math.min(6, await page.locator('#trial-controls input').count());
  const times = [];
  for (let n = 0; n < sliders; ++n) {
    await page.evaluate((index) => {
      const slider = document.querySelectorAll('#trial-controls input')[index];
      delete document.getElementById('trial').dataset.took;
      slider.stepUp();
      slider.dispatchEvent(new Event('input'));
    }, n);
    const took = await page.waitForFunction(() => document.getElementById('trial').dataset.took ||
      /cannot be simulated/.test(document.getElementById('trial-said').textContent) && 'refused');
    if (await took.jsonValue() === 'refused') break;  // two pods for one claim: there is nothing to be moved from
    times.push(Number(await took.jsonValue()));
    await settled(page);
  }
  assert.deepEqual(wrong, []);
  await close();
  return times;
}

for (const path of pages) {
  test(`${path} answers each move within ${mostMs} ms`, async () => {
    let least = [];
    for (let n = 0; n < tries && !(Math.max(...least) <= mostMs && least.length); ++n) {
      const times = await timesOf(path);
      least = times.map((ms, index) => Math.min(ms, least[index] ?? Infinity));
    }
    assert.ok(Math.max(...least) <= mostMs, `first ${least[0]} ms, later ${least.slice(1).join(', ')} ms`);
  });
}

// The page of tools/web in Chromium, held to the program: the same figures, by keyboard alone, on a phone.
//   node web.mjs CHROMIUM PAGE EXPECTED    EXPECTED: a file of JSON with what the program says
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { open as openPage, overflow, phone, violations } from './chromium.mjs';

const [path, expected] = process.argv.slice(3);
const { csv, jobs, plan, compared, templates, findings, imported, importedRun, trace, replayed } = JSON.parse(readFileSync(expected, 'utf8'));

async function open(options = {}) {
  const opened = await openPage(path, { makes: /^(blob:|about:|data:)/, ...options });
  opened.page.setDefaultTimeout(120_000);
  await opened.page.locator('#start optgroup').nth(1).waitFor({ state: 'attached' });
  return opened;
}

// Python reads the line ends of CSV as those of its own.
const shown = async (page) => (await page.locator('#table').textContent()).replaceAll('\r\n', '\n');
const exited = (page) => page.locator('#said', { hasText: /^Exit code/ }).waitFor();
const answered = async (page, verb, format) => {
  await page.locator(`[data-verb=${verb}]`).click();
  await exited(page);
  await idle(page);
  if (format) await page.locator('#format').selectOption(format);
  return shown(page);
};
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

// As a person copies a text elsewhere and pastes it here.
async function paste(page, text) {
  const elsewhere = await page.context().newPage();
  await elsewhere.setContent('<textarea></textarea>');
  await elsewhere.locator('textarea').fill(text);
  await elsewhere.locator('textarea').press('Control+a');
  await elsewhere.keyboard.press('Control+c');
  await elsewhere.close();
  await page.bringToFront();
  await page.locator('#text').press('Control+a');
  await page.keyboard.press('Control+v');
  assert.equal(await page.locator('#text').inputValue(), text);
}

// As the browser tells a page of files that are let go above it.
const drop = (page, files) => page.evaluate((list) => {
  const dataTransfer = new DataTransfer();
  for (const [name, text] of list) dataTransfer.items.add(new File([text], name));
  const tell = (kind) => {
    const event = new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
    document.body.dispatchEvent(event);
    return [event.defaultPrevented, document.body.classList.contains('dropping')];
  };
  // Unless both are prevented the browser leaves the page for the file.
  return [tell('dragover'), tell('drop')];
}, Object.entries(files));

test('manifests that are dropped become a scenario, which runs', async () => {
  const { page, wrong, close } = await open();
  assert.deepEqual(await drop(page, findings.files), [[true, true], [true, false]]);
  await page.locator('#said', { hasText: '2 files are here' }).waitFor();
  assert.deepEqual(await page.locator('#chosen option').allTextContents(), Object.keys(findings.files));
  assert.equal(await answered(page, 'import'), imported);
  assert.equal(await page.locator('#name').inputValue(), 'imported.yaml');
  assert.equal(await page.locator('#text').inputValue(), imported);
  assert.equal(await answered(page, 'run', 'csv'), importedRun);
  // The scenario beside them does not get in the way of importing again.
  await page.locator('#chosen').selectOption('pods.yaml');
  assert.equal(await answered(page, 'import'), imported);
  assert.deepEqual(wrong, []);
  await close();
});

test('what is pasted is checked, made a scenario and replayed', async () => {
  const { page, wrong, close } = await open();
  const [values, pods] = Object.keys(findings.files);
  await paste(page, findings.files[values]);
  await page.locator('#name').fill(values);
  await page.locator('#add').click();
  await paste(page, findings.files[pods]);
  await page.locator('#name').fill(pods);
  assert.equal(await answered(page, 'check'), findings.text);
  assert.equal(await answered(page, 'import'), imported);

  await page.locator('#add').click();
  await paste(page, trace.text);
  await page.locator('#name').fill('team-trace.csv.gz');
  await page.locator('#instances').fill('p4d.24xlarge=2');
  assert.equal(await answered(page, 'replay', 'csv'), replayed);
  assert.deepEqual(wrong, []);
  await close();
});

test('every template is what init writes, and the first one runs', async () => {
  const { page, wrong, close } = await open();
  const offered = page.locator('#start optgroup').nth(0).locator('option');
  assert.deepEqual(await offered.evaluateAll((all) => all.map((one) => one.value.split(' ')[1])),
    Object.keys(templates));
  for (const [name, { text }] of Object.entries(templates)) {
    await page.locator('#start').selectOption(`init ${name}`);
    await page.waitForFunction((file) => document.getElementById('name').value === file, `${name}.yaml`);
    assert.equal(await page.locator('#text').inputValue(), text);
  }
  const [[name, { run }]] = Object.entries(templates);
  await page.locator('#chosen').selectOption(`${name}.yaml`);
  assert.equal(await answered(page, 'run', 'csv'), run);
  assert.deepEqual(wrong, []);
  await close();
});

test('strategies are compared', async () => {
  const { page, wrong, close } = await open();
  await page.locator('#instances').fill('g4dn.xlarge');
  await page.locator('#flags').fill('--variant shared');
  assert.equal(await answered(page, 'compare', 'csv'), compared);
  assert.ok(!(await page.locator('#format option').allTextContents()).includes('html'));
  await page.frameLocator('#report').locator('#verdict svg.chart').waitFor();
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

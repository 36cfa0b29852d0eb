// The page of its own: files in memory, a verb, and what the program says of them.
(() => {
  'use strict';
  const at = (id) => document.getElementById(id);
  const engine = new Slicewise();
  const files = new Map();  // text or bytes by name
  let output = {};          // what is shown, by format
  let asked = 0;

  const say = (words) => { at('said').textContent = words; };

  // --- files ---

  // What a newcomer finds, and anything else takes the place of.
  const first = 'shared-inference.yaml';
  const untouched = () => files.size === 1 && ['', examples[first]].includes([...files.values()][0]);

  function show(name) {
    at('chosen').replaceChildren(...[...files.keys()].map((file) => new Option(file, file)));
    at('chosen').value = name;
    const content = files.get(name);
    at('name').value = name;
    at('text').value = typeof content === 'string' ? content : `${content.length} bytes, not a text`;
    at('text').readOnly = typeof content !== 'string';
  }

  function put(name, content) {
    if (untouched()) files.clear();
    files.set(name, content);
    show(name);
  }

  async function take(list) {
    for (const file of list) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      let content = bytes;  // the engine unpacks gzip, zstd and tar itself
      try {
        content = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      } catch { /* not a text */ }
      put(file.name, content);
    }
    say(list.length === 1 ? `${list[0].name} is here` : `${list.length} files are here`);
  }

  at('chosen').addEventListener('change', () => show(at('chosen').value));
  at('text').addEventListener('input', () => files.set(at('chosen').value, at('text').value));
  at('name').addEventListener('change', () => {
    const [before, now] = [at('chosen').value, at('name').value.trim()];
    if (!now || files.has(now)) return show(before);
    const content = files.get(before);
    files.delete(before);
    put(now, content);
  });
  at('add').addEventListener('click', () => {
    let n = 1;
    while (files.has(`file-${n}.yaml`)) ++n;
    files.set(`file-${n}.yaml`, '');
    show(`file-${n}.yaml`);
    at('text').focus();
  });
  at('remove').addEventListener('click', () => {
    files.delete(at('chosen').value);
    if (!files.size) files.set('scenario.yaml', '');
    show([...files.keys()][0]);
  });
  at('open').addEventListener('click', () => at('files').click());
  at('files').addEventListener('change', () => take([...at('files').files]));
  addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('dropping');
  });
  addEventListener('dragleave', () => document.body.classList.remove('dropping'));
  addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('dropping');
    take([...event.dataTransfer.files]);
  });

  // --- what to start from ---

  async function offer() {
    const listed = await engine.call(['init']);
    const names = [...listed.files[''].matchAll(/^ {2}(\S+) +(.+)$/gm)];
    const group = (label, options) => {
      const element = document.createElement('optgroup');
      element.label = label;
      element.append(...options);
      return element;
    };
    at('start').append(
      group('Templates', names.map(([, name, what]) => new Option(`${name}: ${what}`, 'init ' + name))),
      group('Examples', Object.keys(examples).map((name) => new Option(name, 'example ' + name))));
  }
  at('start').addEventListener('change', async () => {
    const [kind, name] = at('start').value.split(' ');
    if (kind === 'example') put(name, examples[name]);
    if (kind === 'init') {
      const made = await engine.call(['init', '--template', name]);
      put(`${name}.yaml`, made.files['']);
    }
  });

  // --- asking ---

  const isScenario = (name) => /^kind: *Scenario\b/m.test(files.get(name));

  // As a shell splits it, quotes included.
  const wordsOf = (line) => [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)]
    .map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));

  function command(verb) {
    const chosen = at('chosen').value;
    const scenario = isScenario(chosen) ? chosen : [...files.keys()].find(isScenario) ?? chosen;
    const each = (names) => names.flatMap((name) => ['-f', name]);
    const instances = ['--instances', at('instances').value.trim()];
    const others = [...files.keys()].filter((name) => !isScenario(name));
    const words = {
      check: ['check', ...each([...files.keys()])],
      run: ['run', '-f', scenario],
      compare: ['compare', '-f', scenario, ...instances],
      plan: ['plan', '-f', scenario, ...instances],
      replay: ['replay', '-f', chosen, ...instances, '--sharing', at('sharing').value.trim()],
      import: ['import', 'k8s', ...each(others)],
    }[verb];
    return [...words, ...wordsOf(at('flags').value)];
  }

  function draw(answer) {
    at('errors').textContent = answer.errors;
    at('errors').hidden = !answer.errors;
    output = { text: answer.files[''] ?? '', ...answer.renderings };
    const formats = Object.keys(output).filter((name) => !/^html$|[.]svg$/.test(name) && output[name]);
    at('format').replaceChildren(...formats.map((name) => new Option(name, name)));
    at('found').hidden = formats.length === 0;
    if (formats.length) pick(formats.includes('table') ? 'table' : formats[0]);
  }

  function pick(format) {
    at('format').value = format;
    at('table').textContent = output[format];
    URL.revokeObjectURL(at('save').href);
    at('save').href = URL.createObjectURL(new Blob([output[format]], { type: 'text/plain' }));
    at('save').download = `slicewise.${format === 'text' || format === 'wide' ? 'txt' : format}`;
  }
  at('format').addEventListener('change', () => pick(at('format').value));
  at('copy').addEventListener('click', async () => {
    getSelection().selectAllChildren(at('table'));
    try {
      await navigator.clipboard.writeText(at('table').textContent);
    } catch {
      document.execCommand('copy');
    }
    getSelection().removeAllRanges();
    say('Copied');
  });

  function busy(now) {
    for (const button of document.querySelectorAll('[data-verb]')) button.disabled = now;
    at('stop').disabled = !now;
    at('progress').hidden = !now;
    at('progress').removeAttribute('value');
    at('answer').setAttribute('aria-busy', String(now));
  }

  const follow = ({ done, total }) => {
    at('progress').max = Math.max(total, done, 1);
    at('progress').value = done;
  };

  // The page that a study has with it, or that of `report`: of a scenario, or of a plan or a replay by its document.
  async function report(verb, words, answer, given) {
    if (answer.renderings?.html) return showPage(answer.renderings.html);
    if (!['run', 'plan', 'replay'].includes(verb) || answer.exitCode === 2 || answer.exitCode === 3) return;
    const document = answer.files[''];
    const rest = verb === 'run'
      ? ['report', ...words.slice(1)]
      : ['report', 'answer.json'];
    if (verb !== 'run') given['answer.json'] = document;
    const page = await engine.call([...rest, '-o', 'html'], given, follow);
    if (page.files[''] && page.exitCode !== 2 && page.exitCode !== 3) showPage(page.files['']);
  }

  function showPage(page) {
    at('report').srcdoc = page;
    at('report').hidden = false;
  }

  async function ask(verb) {
    const words = command(verb);
    const mine = ++asked;
    const began = performance.now();
    at('command').textContent = `slicewise ${words.join(' ')}`;
    at('report').hidden = true;
    busy(true);
    say('Working');
    try {
      const given = Object.fromEntries(files);
      const wanted = verb === 'plan' || verb === 'replay' ? [...words, '-o', 'json'] : words;
      const answer = await engine.call(wanted, given, follow);
      if (answer.bug) throw new Error(`a bug in slicewise: ${answer.bug}`);
      draw(answer);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      say(`Exit code ${answer.exitCode}, ${seconds} s`);
      if (verb === 'import' && answer.files['']) put('imported.yaml', answer.files['']);
      await report(verb, words, answer, given);
    } catch (problem) {
      if (mine === asked) say(problem.name === 'AbortError' ? 'Stopped' : String(problem.message));
    } finally {
      if (mine === asked) busy(false);
    }
  }
  for (const button of document.querySelectorAll('[data-verb]')) {
    button.addEventListener('click', () => ask(button.dataset.verb));
  }
  at('stop').addEventListener('click', () => engine.stop());

  put(first, examples[first]);
  say('An example is here: Run says what happens to it.');
  offer().catch((problem) => say(`The engine does not start: ${problem.message}`));
})();

(() => {
  'use strict';
  const root = document.documentElement;
  root.classList.add('scripted');
  const say = (words) => { document.getElementById('said').textContent = words; };

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return 'v' in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
  };
  const order = (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    if (typeof a === 'number') return -1;
    if (typeof b === 'number') return 1;
    return a.localeCompare(b, 'en', { numeric: true });
  };
  for (const table of document.querySelectorAll('table.sortable')) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener('click', () => {
        const up = head.getAttribute('aria-sort') !== 'ascending';
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => {
          const compared = order(valueOf(a, column), valueOf(b, column));
          return up ? compared : -compared;
        });
        table.tBodies[0].append(...rows);
        say('Sorted by ' + button.textContent + (up ? ', ascending' : ', descending'));
      });
    });
  }

  for (const button of document.querySelectorAll('button.copy')) {
    const name = button.textContent;
    const label = button.getAttribute('aria-label') || name;
    button.addEventListener('click', async () => {
      await copied(document.getElementById(button.dataset.copy).textContent);
      button.textContent = 'Copied';
      button.setAttribute('aria-label', 'Copied');
      say('Copied');
      setTimeout(() => {
        button.textContent = name;
        button.setAttribute('aria-label', label);
      }, 2000);
    });
  }

  const themes = ['', 'light', 'dark'];
  const theme = document.getElementById('theme');
  theme.addEventListener('click', () => {
    const next = themes[(themes.indexOf(root.dataset.theme || '') + 1) % themes.length];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    theme.textContent = 'Theme: ' + (next || 'as the system');
  });

  addEventListener('beforeprint', () => {
    for (const details of document.querySelectorAll('details:not([open])')) {
      details.dataset.folded = '';
      details.open = true;
    }
  });
  addEventListener('afterprint', () => {
    for (const details of document.querySelectorAll('details[data-folded]')) {
      delete details.dataset.folded;
      details.open = false;
    }
  });
})();

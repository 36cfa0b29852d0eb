// What pages that simulate have in common, whatever they are about.
const at = (id) => document.getElementById(id);
const say = (words) => { at('trial-said').textContent = words; };

// `leads`: it begins a row.
function figure(words, drawing, leads = false) {
  const element = document.createElement('figure');
  element.classList.toggle('leads', leads);
  const caption = document.createElement('figcaption');
  const picture = new Image();
  caption.textContent = words;
  picture.alt = words;
  picture.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(drawing);
  element.append(caption, picture);
  return element;
}

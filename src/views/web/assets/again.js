// Takes what the page shows anew every few seconds, unless somebody is typing into it, has orders open or looks elsewhere.
'use strict';

const reachable = 'a, button, input, select, textarea';

async function again(seconds) {
  const main = document.querySelector('main');
  const focused = document.activeElement;
  const orders = main.querySelector('details[open]');
  if (!document.hidden && !orders && !(main.contains(focused) && focused.matches('input, select, textarea'))) {
    const at = [...main.querySelectorAll(reachable)].indexOf(focused);
    const answer = await fetch(location.href).catch(() => null);
    if (answer?.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      main.replaceWith(page.querySelector('main'));
      document.querySelector('.meter')?.replaceWith(page.querySelector('.meter') ?? '');
      document.dispatchEvent(new Event('again'));
      document.querySelectorAll(`main :is(${reachable})`)[at]?.focus();
      seconds = Number(page.documentElement.dataset.again);
    }
  }
  if (seconds) setTimeout(again, seconds * 1000, seconds);
}

const seconds = Number(document.documentElement.dataset.again);
setTimeout(again, seconds * 1000, seconds);

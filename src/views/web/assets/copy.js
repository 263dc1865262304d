// A button after each text that is there to be copied, where the browser lets a page do that.
'use strict';

for (const element of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = element.dataset.copy;
  button.onclick = async () => {
    await navigator.clipboard.writeText(element.value ?? element.textContent);
    button.textContent = `✓ ${element.dataset.copy}`;
  };
  element.after(button);
}

"""The page's script: a paragraph and its boxes light up together. Without it all can still be read."""

SCRIPT = """
'use strict';
document.addEventListener('DOMContentLoaded', () => {
  for (const page of document.querySelectorAll('section.page')) {
    const parts = new Map();
    for (const part of page.querySelectorAll('[data-n]')) {
      const all = parts.get(part.dataset.n) || [];
      all.push(part);
      parts.set(part.dataset.n, all);
    }
    const light = (event, on) => {
      const part = event.target.closest('[data-n]');
      if (part) for (const one of parts.get(part.dataset.n)) one.classList.toggle('lit', on);
    };
    for (const [name, on] of [['mouseover', true], ['mouseout', false], ['focusin', true], ['focusout', false]])
      page.addEventListener(name, event => light(event, on));
    page.addEventListener('click', event => {
      const part = event.target.closest('[data-n]');
      if (!part || String(getSelection())) return;
      event.preventDefault();
      const kept = part.classList.contains('kept');
      for (const one of page.querySelectorAll('.kept')) one.classList.remove('kept');
      if (kept) return;
      const all = parts.get(part.dataset.n);
      for (const one of all) one.classList.add('kept');
      const other = all.find(one => one.classList.contains('box') !== part.classList.contains('box'));
      if (other) other.scrollIntoView({block: 'nearest', behavior: 'smooth'});
    });
  }
  for (const choice of document.querySelectorAll('input[data-hides]'))
    choice.addEventListener('change', () => document.body.classList.toggle(choice.dataset.hides, !choice.checked));
});
"""

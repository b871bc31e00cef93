/** How the page looks: for this visit only. */
import { effect, signal } from '@preact/signals';
import { language } from '../texts.ts';

export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const theme = signal<Theme>('auto');

/** Applies the theme and the language, at first that of the browser, to the document from now on. */
export function applyPreferences(): void {
  language.value = navigator.language.startsWith('de') ? 'de' : 'en';
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
  });
  effect(() => {
    document.documentElement.lang = language.value;
  });
}

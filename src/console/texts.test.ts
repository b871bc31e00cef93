import { expect, it } from 'vitest';
import { language, languages, type TextKey, t, texts } from './texts.ts';

it('has each text in both languages, with the same parameters', () => {
  const parametersOf = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([whole]) => whole).sort();
  for (const [key, [english, german]] of Object.entries(texts)) {
    expect([key, english, german]).not.toContain('');
    expect([key, parametersOf(german)]).toEqual([key, parametersOf(english)]);
  }
});

it('takes the values of parameters as text', () => {
  const key: TextKey = 'createTitle';
  const shown = languages.map((name) => {
    language.value = name;
    return t(key, { kind: '{kind} $&' });
  });
  language.value = 'en';
  expect(shown).toEqual(['Create {kind} $&', '{kind} $& anlegen']);
});

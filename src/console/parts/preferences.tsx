/** The choice of language and colours. */
import { type Theme, theme, themes } from '../state/preferences.ts';
import { type Language, language, languages, type TextKey, t } from '../texts.ts';

const themeTexts: { readonly [name in Theme]: TextKey } = {
  auto: 'themeAuto',
  light: 'themeLight',
  dark: 'themeDark',
};

const languageNames: { readonly [name in Language]: string } = { en: 'English', de: 'Deutsch' };

export function Preferences() {
  return (
    <div class="preferences">
      <select
        aria-label={t('language')}
        value={language.value}
        onChange={({ currentTarget }) => {
          language.value = currentTarget.value as Language;
        }}
      >
        {languages.map((name) => (
          <option key={name} value={name}>
            {languageNames[name]}
          </option>
        ))}
      </select>
      <select
        aria-label={t('theme')}
        value={theme.value}
        onChange={({ currentTarget }) => {
          theme.value = currentTarget.value as Theme;
        }}
      >
        {themes.map((name) => (
          <option key={name} value={name}>
            {t(themeTexts[name])}
          </option>
        ))}
      </select>
    </div>
  );
}

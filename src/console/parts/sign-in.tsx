/** The sign-in: with an identity provider, a token, or the client certificate of the browser. */
import { useEffect, useState } from 'preact/hooks';
import { isStatus } from '../../meta/index.ts';
import type { SignInBrowser } from '../openid/issuer-document.ts';
import { beginSignIn, completeSignIn, isIssuerResponse } from '../openid/sign-in-flow.ts';
import { goTo } from '../state/route.ts';
import { sessionEnded, signIn } from '../state/session.ts';
import { type Issuer, type PageSettings, readSettings } from '../state/settings.ts';
import { type TextKey, t } from '../texts.ts';
import { ErrorNote } from './error-note.tsx';
import { Preferences } from './preferences.tsx';

const browser = (): SignInBrowser => ({
  fetch: (...request) => fetch(...request),
  storage: sessionStorage,
  redirectUri: new URL('.', location.href).href,
  now: () => Date.now(),
});

export function SignIn() {
  const [error, setError] = useState<unknown>(sessionEnded.value ? new Error(t('sessionEnded')) : undefined);
  const [busy, setBusy] = useState(false);
  const [settings, setSettings] = useState<PageSettings>();
  /** Tries to sign in. `refused`: why, when the server does not accept the credentials. */
  const attempt = async (refused: TextKey, action: () => Promise<void>) => {
    setBusy(true);
    try {
      await action();
    } catch (why) {
      const isRefused = isStatus(why, 401) || (refused === 'noCertificate' && isStatus(why, 403));
      setError(isRefused ? new Error(t(refused)) : why);
      setBusy(false);
    }
  };
  useEffect(() => {
    void attempt('tokenRefused', async () => {
      const response = takeIssuerResponse();
      const read = await readSettings();
      setSettings(read);
      if (response === undefined) return setBusy(false);
      const { address, ...credentials } = await completeSignIn(response, read, browser());
      await signIn(credentials);
      goTo(address);
    });
  }, []);
  useEffect(() => {
    // Browsers may show the page as it was left for an issuer.
    const restored = () => setBusy(false);
    addEventListener('pageshow', restored);
    return () => removeEventListener('pageshow', restored);
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget as HTMLFormElement).get('token');
    const token = typeof typed === 'string' ? typed.trim() : '';
    if (token !== '') void attempt('tokenRefused', () => signIn({ token: async () => token }));
  };
  const moveTo = (issuer: Issuer, scopes: readonly string[]) =>
    attempt('tokenRefused', async () => location.assign(await beginSignIn(issuer, scopes, location.hash, browser())));
  return (
    <main class="sign-in">
      <h1>{t('signIn')}</h1>
      <p class="dim">{t('signInHint')}</p>
      {error !== undefined && <ErrorNote error={error} />}
      {settings?.issuers.map((issuer) => (
        <button
          key={issuer.url}
          type="button"
          class="primary"
          disabled={busy}
          onClick={() => void moveTo(issuer, settings.scopes)}
        >
          {t('signInWithIssuer', { issuer: issuer.url.replace(/^https:\/\//, '') })}
        </button>
      ))}
      <form onSubmit={submit} autocomplete="off">
        <label for="token">{t('token')}</label>
        <input id="token" name="token" type="password" required autocomplete="off" spellcheck={false} />
        <button type="submit" class="primary" disabled={busy}>
          {t('signInWithToken')}
        </button>
      </form>
      <button type="button" disabled={busy} onClick={() => void attempt('noCertificate', () => signIn())}>
        {t('signInWithCertificate')}
      </button>
      <Preferences />
    </main>
  );
}

/** The response of an issuer in the address of the page, which loses it. */
function takeIssuerResponse(): URLSearchParams | undefined {
  const query = new URLSearchParams(location.search);
  if (!isIssuerResponse(query)) return undefined;
  history.replaceState(null, '', `${location.pathname}${location.hash}`);
  return query;
}

/** The sign-in, by a token or by the client certificate of the browser. */
import { useState } from 'preact/hooks';
import { isStatus } from '../../meta/index.ts';
import { sessionEnded, signIn } from '../state/session.ts';
import { t } from '../texts.ts';
import { ErrorNote } from './error-note.tsx';
import { Preferences } from './preferences.tsx';

export function SignIn() {
  const [error, setError] = useState<unknown>(sessionEnded.value ? new Error(t('sessionEnded')) : undefined);
  const [busy, setBusy] = useState(false);
  const attempt = async (token: string | undefined) => {
    setBusy(true);
    try {
      await signIn(token);
    } catch (why) {
      const refused = isStatus(why, 401) || (token === undefined && isStatus(why, 403));
      setError(refused ? new Error(t(token === undefined ? 'noCertificate' : 'tokenRefused')) : why);
      setBusy(false);
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get('token');
    if (typeof token === 'string' && token.trim() !== '') void attempt(token.trim());
  };
  return (
    <main class="sign-in">
      <h1>{t('signIn')}</h1>
      <p class="dim">{t('signInHint')}</p>
      {error !== undefined && <ErrorNote error={error} />}
      <form onSubmit={submit} autocomplete="off">
        <label for="token">{t('token')}</label>
        <input id="token" name="token" type="password" required autocomplete="off" spellcheck={false} />
        <button type="submit" class="primary" disabled={busy}>
          {t('signInWithToken')}
        </button>
      </form>
      <button type="button" disabled={busy} onClick={() => void attempt(undefined)}>
        {t('signInWithCertificate')}
      </button>
      <Preferences />
    </main>
  );
}

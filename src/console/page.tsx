/** The frame of the page: who is signed in, where, and what is shown. */
import { render } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { ErrorNote } from './parts/error-note.tsx';
import { Header } from './parts/header.tsx';
import { Lazy } from './parts/lazy.tsx';
import { Menu } from './parts/menu.tsx';
import { SignIn } from './parts/sign-in.tsx';
import { followKinds, kinds } from './state/discovery.ts';
import { applyPreferences } from './state/preferences.ts';
import { followAddress, route } from './state/route.ts';
import { session } from './state/session.ts';
import { ListPage } from './table/list-page.tsx';
import { t } from './texts.ts';

/** Shows the page in an element. */
export function startPage(place: HTMLElement): void {
  applyPreferences();
  followAddress();
  addEventListener('keydown', focusFilter);
  render(<Page />, place);
}

/** `/` moves to the filter, as on many pages. */
function focusFilter(event: KeyboardEvent): void {
  const { target, key } = event;
  const types =
    target instanceof HTMLElement && (/^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || target.shadowRoot);
  if (key !== '/' || types) return;
  event.preventDefault();
  document.getElementById('filter')?.focus();
}

function Page() {
  const current = session.value;
  useEffect(() => {
    if (current === undefined) return;
    const stop = new AbortController();
    // Without rights to the definitions, the kinds are those of the sign-in.
    followKinds(current, stop.signal).catch(() => {});
    return () => {
      stop.abort();
      kinds.value = undefined;
    };
  }, [current]);
  useEffect(() => {
    document.title = t('console');
  });
  if (current === undefined) return <SignIn />;
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        {t('skipToContent')}
      </button>
      <Header session={current} />
      <Menu session={current} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the content scrolls */}
      <main id="content" tabIndex={0}>
        <SafeView />
      </main>
    </div>
  );
}

/** A view. An error while it is drawn is shown in its place until another view is chosen, and leaves the rest of the page. */
function SafeView() {
  const [error, reset] = useErrorBoundary();
  const shown = route.value;
  useEffect(reset, [shown]);
  return error === undefined ? <View /> : <ErrorNote error={error} />;
}

function View() {
  const shown = route.value;
  switch (shown.view) {
    case 'list':
      return <ListPage address={shown} />;
    case 'object':
      return <Lazy load={objectPage} props={{ address: shown }} />;
    case 'create':
      return <Lazy load={createPage} props={{ address: shown }} />;
    case 'load':
      return <Lazy load={loadPage} props={{}} />;
    case 'home':
      return <p class="dim">{t('welcome')}</p>;
    case 'unknown':
      return <p>{t('pageNotFound')}</p>;
  }
}

const objectPage = async () => (await import('./object/object-page.tsx')).ObjectPage;
const createPage = async () => (await import('./edit/create-page.tsx')).CreatePage;
const loadPage = async () => (await import('./load/load-page.tsx')).LoadPage;

/** A part of the page whose code is loaded when it is first shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../texts.ts';
import { ErrorNote } from './error-note.tsx';

export interface LazyProps<P> {
  readonly load: () => Promise<ComponentType<P>>;
  readonly props: P;
}

export function Lazy<P extends object>({ load, props }: LazyProps<P>) {
  const [loaded, setLoaded] = useState<{ readonly Part: ComponentType<P>; readonly by: unknown }>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    load().then((Part) => setLoaded({ Part, by: load }), setError);
  }, [load]);
  if (error !== undefined) return <ErrorNote error={error} />;
  if (loaded?.by !== load) return <p class="dim">{t('loading')}</p>;
  return <loaded.Part {...props} />;
}

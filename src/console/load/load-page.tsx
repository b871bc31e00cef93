/** The load of the server, from its own metrics. */
import { useEffect, useState } from 'preact/hooks';
import { ErrorNote } from '../parts/error-note.tsx';
import { currentSession, type Session } from '../state/session.ts';
import { t } from '../texts.ts';
import { ChartView, type Point } from './chart-view.tsx';
import { chartMetrics, charts, type Scrape } from './charts.ts';
import { samplesOf } from './metrics-text.ts';

/** The interval of the scrapes (ms), and how many points a chart keeps. */
const intervalMs = 2_000;
const maxPoints = 300;

export function LoadPage() {
  const { history, error } = useHistory(currentSession());
  return (
    <article>
      <header class="bar">
        <h1>{t('load')}</h1>
      </header>
      {error !== undefined && <ErrorNote error={error} />}
      <div class="charts">
        {charts.map((chart, index) => (
          <ChartView key={chart.title} chart={chart} points={history[index] ?? []} />
        ))}
      </div>
    </article>
  );
}

/** The points of each chart, from when the page was opened. */
function useHistory(session: Session) {
  const [history, setHistory] = useState<readonly (readonly Point[])[]>([]);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const stop = new AbortController();
    let before: Scrape | undefined;
    const read = async () => {
      const now = await scrape(session, stop.signal);
      const last = before ?? now;
      before = now;
      setError(undefined);
      setHistory((points) =>
        charts.map(({ values }, index) =>
          [...(points[index] ?? []), { time: now.time, values: values(now, last) }].slice(-maxPoints),
        ),
      );
    };
    const readSafely = () => void read().catch((why: unknown) => !stop.signal.aborted && setError(why));
    readSafely();
    const timer = setInterval(readSafely, intervalMs);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [session]);
  return { history, error };
}

/** @throws Error when the user may not read the metrics */
async function scrape({ client }: Session, signal: AbortSignal): Promise<Scrape> {
  const { status, body } = await client.request({ method: 'GET', url: '/metrics', headers: { accept: '*/*' }, signal });
  if (status !== 200) throw new Error(t('mayNotReadMetrics'));
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  return { time: Date.now() / 1000, samples: samplesOf(text, chartMetrics) };
}

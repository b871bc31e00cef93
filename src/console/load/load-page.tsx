/** The load of the server, from its own metrics. */
import { useRef, useState } from 'preact/hooks';
import { readText } from '../../client/index.ts';
import { isStatus } from '../../meta/index.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';
import { ChartView, type Point } from './chart-view.tsx';
import { chartMetrics, charts, type Scrape } from './charts.ts';
import { samplesOf } from './metrics-text.ts';
import { useRepeated } from './repeated.ts';
import { RequestsPanel } from './requests-panel.tsx';

/** The most points that a chart keeps. */
const maxPoints = 300;

export function LoadPage() {
  const { history, error } = useHistory();
  return (
    <article>
      <header class="bar">
        <h1>{t('load')}</h1>
      </header>
      {error !== undefined && <ErrorNote error={isStatus(error, 403) ? new Error(t('mayNotReadMetrics')) : error} />}
      <div class="charts">
        {charts.map((chart, index) => (
          <ChartView key={chart.title} chart={chart} points={history[index] ?? []} />
        ))}
      </div>
      <RequestsPanel />
    </article>
  );
}

/** The points of each chart, from when the page was opened. */
function useHistory() {
  const { client } = currentSession();
  const [history, setHistory] = useState<readonly (readonly Point[])[]>([]);
  const before = useRef<Scrape | undefined>(undefined);
  const error = useRepeated(async (signal) => {
    const response = await client.request({ method: 'GET', url: '/metrics', headers: { accept: '*/*' }, signal });
    const now = { time: Date.now() / 1000, samples: samplesOf(await readText(response), chartMetrics) };
    const last = before.current ?? now;
    before.current = now;
    setHistory((points) =>
      charts.map(({ values }, index) =>
        [...(points[index] ?? []), { time: now.time, values: values(now, last) }].slice(-maxPoints),
      ),
    );
  });
  return { history, error };
}

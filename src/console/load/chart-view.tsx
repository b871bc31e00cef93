/** A chart of series over time. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { t } from '../texts.ts';
import type { Chart, Values } from './charts.ts';

export interface Point {
  /** In seconds since 1970. */
  readonly time: number;
  readonly values: Values;
}

const strokes = ['#2f7ccb', '#1a8f4c', '#c96f00', '#b3409e', '#b3261e', '#008c95', '#7a5cd1', '#7d7d00'];
const height = 180;

export function ChartView({ chart, points }: { readonly chart: Chart; readonly points: readonly Point[] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const names = [...new Set(points.flatMap(({ values }) => [...values.keys()]))].sort();
  const series = names.join(' ');
  const data: uPlot.AlignedData = [
    points.map(({ time }) => time),
    ...names.map((name) => points.map(({ values }) => values.get(name) ?? null)),
  ];
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const opened = open(element, series === '' ? [] : series.split(' '));
    plot.current = opened;
    const observer = new ResizeObserver(() => opened.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      opened.destroy();
    };
  }, [series]);
  useEffect(() => plot.current?.setData(data));
  const title = t(chart.title);
  return (
    <section class="panel chart" aria-label={title}>
      <h2>{title}</h2>
      <div ref={place} />
      <Latest names={names} values={points.at(-1)?.values ?? new Map()} />
    </section>
  );
}

/** The latest values as a list, for those who do not see the curves. */
const Latest = ({ names, values }: { readonly names: readonly string[]; readonly values: Values }) => (
  <ul class="unseen">
    {names.map((name) => (
      <li key={name}>
        {name} {Math.round((values.get(name) ?? 0) * 100) / 100}
      </li>
    ))}
  </ul>
);

function open(element: HTMLElement, names: readonly string[]): uPlot {
  const style = getComputedStyle(element);
  const axis = {
    stroke: style.getPropertyValue('--dim'),
    grid: { stroke: style.getPropertyValue('--line'), width: 1 },
    ticks: { show: false },
  };
  const options: uPlot.Options = {
    width: element.clientWidth,
    height,
    cursor: { y: false },
    axes: [axis, { ...axis, size: 56 }],
    scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] } },
    series: [
      {},
      ...names.map((label, index) => ({ label, stroke: strokes[index % strokes.length] ?? '', width: 1.5 })),
    ],
  };
  return new uPlot(options, [[], ...names.map(() => [])], element);
}

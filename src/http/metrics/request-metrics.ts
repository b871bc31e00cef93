import { ownMetric } from '../../meta/index.ts';
import { durationBounds, sizeBounds } from '../listener/bounds.ts';
import { labelText } from './distribution.ts';
import { histogram, line, type Metric } from './metric.ts';
import { codeText } from './request-series.ts';

const requestLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'];

const limitMetric = (
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (limit: { readonly used: number; readonly limit: number; readonly refusals: number }) => number,
): Metric => ({
  ...{ name: ownMetric(name), stability: 'ALPHA', type, help, labels: ['limit'] },
  *lines({ inFlight: { shares } }, metric) {
    for (const [limit, share] of Object.entries(shares)) {
      const value = read(share);
      if (Number.isFinite(value)) yield line(metric, labelText({ limit }), value);
    }
  },
});

const connectionMetric = (
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  part: 'open' | 'refused' | 'flooded',
): Metric => ({
  ...{ name: ownMetric(name), stability: 'ALPHA', type, help, labels: [] },
  lines: ({ connections }, metric) => [line(metric, '', connections()[part])],
});

/** The metrics of requests, of what limits them, and of connections. */
export const requestMetrics: readonly Metric[] = [
  {
    name: 'apiserver_request_total',
    stability: 'STABLE',
    help: 'Requests answered, by kind of request and HTTP status code.',
    type: 'counter',
    labels: [...requestLabels, 'dry_run', 'code'],
    *lines({ series }, name) {
      for (const { labels, codes } of series.values()) {
        for (const [code, value] of codes) yield line(name, `${labels},code="${codeText(code)}"`, value);
      }
    },
  },
  {
    name: 'apiserver_request_duration_seconds',
    stability: 'STABLE',
    help: 'Time from the request to the end of its answer.',
    type: 'histogram',
    labels: [...requestLabels, 'dry_run'],
    *lines({ series }, name) {
      for (const { labels, duration } of series.values()) yield histogram(name, labels, duration, durationBounds);
    },
  },
  {
    name: 'apiserver_response_sizes',
    stability: 'STABLE',
    help: 'Bytes of the answers, before the transport.',
    type: 'histogram',
    labels: requestLabels,
    *lines({ requests }, name) {
      for (const { labels, size } of requests.values()) {
        if (size !== undefined) yield histogram(name, labels, size, sizeBounds);
      }
    },
  },
  {
    name: 'apiserver_request_terminations_total',
    stability: 'ALPHA',
    help: 'Requests that were refused (429) or given up (408, 504) to protect the server.',
    type: 'counter',
    labels: [...requestLabels, 'code'],
    *lines({ requests }, name) {
      for (const { labels, terminated } of requests.values()) {
        for (const [code, value] of terminated) yield line(name, `${labels},code="${codeText(code)}"`, value);
      }
    },
  },
  {
    name: 'apiserver_request_aborts_total',
    stability: 'ALPHA',
    help: 'Answers that a failure broke off.',
    type: 'counter',
    labels: requestLabels,
    *lines({ requests }, name) {
      for (const { labels, aborted } of requests.values()) yield line(name, labels, aborted);
    },
  },
  {
    name: 'apiserver_requested_deprecated_apis',
    stability: 'STABLE',
    help: 'Deprecated APIs that were requested, with the release that removes them: always 1.',
    type: 'gauge',
    labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
    lines: ({ deprecated }, name) => [...deprecated].map((labels) => line(name, labels, 1)),
  },
  {
    name: 'apiserver_current_inflight_requests',
    stability: 'STABLE',
    help: 'Requests under way, but for those that last long.',
    type: 'gauge',
    labels: ['request_kind'],
    lines: ({ inFlight: { counts } }, name) => [
      line(name, 'request_kind="readOnly"', counts.readOnly),
      line(name, 'request_kind="mutating"', counts.mutating),
    ],
  },
  {
    name: 'apiserver_longrunning_requests',
    stability: 'STABLE',
    help: 'Watches, and requests that go on to nodes, under way.',
    type: 'gauge',
    labels: requestLabels,
    *lines({ requests }, name) {
      for (const { labels, open, lasting } of requests.values()) if (lasting) yield line(name, labels, open);
    },
  },
  limitMetric(
    'limit_used',
    'gauge',
    'How much of each limit of requests is taken: requests of a kind, or bytes (receiving, unread, selectors).',
    ({ used }) => used,
  ),
  limitMetric('limit', 'gauge', 'Each limit of requests; absent where there is none.', ({ limit }) => limit),
  limitMetric(
    'limit_refusals_total',
    'counter',
    'Requests refused with 429 because of a limit.',
    ({ refusals }) => refusals,
  ),
  connectionMetric('connections', 'gauge', 'Open connections of clients.', 'open'),
  connectionMetric(
    'connections_refused_total',
    'counter',
    'Connections that were closed at once because their address had too many.',
    'refused',
  ),
  connectionMetric(
    'connections_flooded_total',
    'counter',
    'Connections that were ended because of a flood of resets, control frames, bytes that belong to no request, or small pieces of bodies.',
    'flooded',
  ),
  {
    name: 'apiserver_tls_handshake_errors_total',
    stability: 'ALPHA',
    help: 'TLS handshakes of clients that failed.',
    type: 'counter',
    labels: [],
    lines: ({ connections }, name) => [line(name, '', connections().failedHandshakes)],
  },
];

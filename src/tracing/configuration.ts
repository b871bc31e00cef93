/** The file of `--tracing-config-file`. */
import { type FieldError, fieldError, omitted } from '../meta/index.ts';
import { type ConfigurationFormat, field, type Infer, int32, string, struct, versionedKinds } from '../schema/index.ts';
import { tracesUrl } from './collector.ts';

/** An absent field differs from one with the zero value. */
const pointer = { nullable: true } as const;

const TracingConfiguration = struct('apiserver/v1.TracingConfiguration', {
  apiVersion: field(1, string),
  kind: field(2, string),
  /** The endpoint of a collector: `host:port`, or a URL. */
  endpoint: field(3, string, pointer),
  samplingRatePerMillion: field(4, int32, pointer),
});
type TracingConfiguration = Infer<typeof TracingConfiguration>;

const million = 1_000_000;

export const tracingFormat: ConfigurationFormat<TracingConfiguration> = {
  kinds: versionedKinds('apiserver.config', 'TracingConfiguration', 'v1', 'v1beta1', 'v1alpha1'),
  schema: TracingConfiguration,
  check: ({ endpoint, samplingRatePerMillion: rate }) => [...checkEndpoint(endpoint), ...checkRate(rate)],
};

function checkEndpoint(endpoint: string | null | undefined): FieldError[] {
  if (typeof endpoint !== 'string' || tracesUrl(endpoint) !== undefined) return [];
  const rule =
    'must be the OTLP/HTTP endpoint of a collector: host:port, or a URL with http or https and without user, query and fragment';
  // Text before an @ may be a password.
  return [fieldError.invalid('endpoint', endpoint.includes('@') ? omitted : endpoint, rule)];
}

function checkRate(rate: number | null | undefined): FieldError[] {
  if (typeof rate !== 'number' || (rate >= 0 && rate <= million)) return [];
  return [fieldError.invalid('samplingRatePerMillion', rate, `must be from 0 to ${million}`)];
}

/** The file of `--tracing-config-file`. */
import { type FieldError, fieldError } from '../meta/index.ts';
import { type ConfigurationFormat, field, type Infer, int32, string, struct, versionedKinds } from '../schema/index.ts';

/** Absent and zero are not the same. */
const pointer = { nullable: true } as const;

const TracingConfiguration = struct('apiserver/v1.TracingConfiguration', {
  apiVersion: field(1, string),
  kind: field(2, string),
  /** Of a collector, as gRPC names it. */
  endpoint: field(3, string, pointer),
  samplingRatePerMillion: field(4, int32, pointer),
});
type TracingConfiguration = Infer<typeof TracingConfiguration>;

const million = 1_000_000;
/** `host:port`, `dns:host:port`, `dns:///host:port` or `unix:path`, as gRPC names them. */
const endpointForm =
  /^(?:(?:dns:(?:\/\/[^/]*\/)?)?(?:\[[0-9a-f:.]+\]|[^\s/:[\]]+)(?::\d{1,5})?|unix:(?:\/\/)?[^\s]+)$/i;

export const tracingFormat: ConfigurationFormat<TracingConfiguration> = {
  kinds: versionedKinds('apiserver.config', 'TracingConfiguration', 'v1', 'v1beta1', 'v1alpha1'),
  schema: TracingConfiguration,
  check: ({ endpoint, samplingRatePerMillion: rate }) => [...checkEndpoint(endpoint), ...checkRate(rate)],
};

function checkEndpoint(endpoint: string | null | undefined): FieldError[] {
  if (typeof endpoint !== 'string' || endpointForm.test(endpoint)) return [];
  const why = 'must be the gRPC endpoint of a collector: host:port, dns:host:port or unix:path, without http://';
  return [fieldError.invalid('endpoint', endpoint, why)];
}

function checkRate(rate: number | null | undefined): FieldError[] {
  if (typeof rate !== 'number' || (rate >= 0 && rate <= million)) return [];
  return [fieldError.invalid('samplingRatePerMillion', rate, `must be from 0 to ${million}`)];
}

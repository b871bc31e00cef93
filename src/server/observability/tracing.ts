import type { Names } from '../../meta/index.ts';
import { createTracer, type Tracer, tracingFormat } from '../../tracing/index.ts';
import type { Dependencies } from '../dependencies.ts';
import { decodeDocument, readYaml } from '../settings/configuration-file.ts';
import { type FeatureSettings, resolveFeatures } from '../settings/feature-gates.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { StartError } from '../start-error.ts';
import { version } from '../version.ts';

const flag = '--tracing-config-file';

/** Opens the tracer of the settings; undefined without a configuration file. @throws StartError */
export async function openTracer(
  settings: Pick<ServerSettings, 'tracingConfigFile'> & FeatureSettings,
  names: Names,
  { clock, random, identity, log }: Pick<Dependencies, 'clock' | 'random' | 'identity' | 'log'>,
): Promise<Tracer | undefined> {
  const { tracingConfigFile: path } = settings;
  if (path === undefined) return undefined;
  const document = await readYaml(flag, path);
  const { endpoint, samplingRatePerMillion } = decodeDocument(tracingFormat, document, names);
  if (!resolveFeatures(settings).APIServerTracing) {
    throw new StartError(`${flag} needs --feature-gates=APIServerTracing=true`);
  }
  return createTracer({
    endpoint: endpoint ?? undefined,
    samplingRatePerMillion: samplingRatePerMillion ?? 0,
    scope: { name: names.product, version },
    clock,
    random,
    identity,
    warn: log.warn,
  });
}

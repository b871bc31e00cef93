import { FlowControl } from '../../fairness/index.ts';
import type { Metrics } from '../../http/index.ts';
import { type Clock, formatGroupResource, type Names } from '../../meta/index.ts';
import type { Registry } from '../../registry/index.ts';
import { mandatoryFlows, mandatoryLevels } from '../../resources/index.ts';
import type { FlowSchema, FlowSchemaSpec, PriorityLevelConfiguration } from '../../types/flowcontrol-v1.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { seatsOf } from '../settings/in-flight-limits.ts';

/** The flow control of a server, with the mandatory objects only; undefined when the settings say that it has none. */
export function openFlowControl(settings: ServerSettings, clock: Clock, metrics: Metrics): FlowControl | undefined {
  const seats = seatsOf(settings);
  if (seats === undefined) return undefined;
  const mandatory = {
    schemas: mandatoryFlows as ReadonlyMap<string, FlowSchemaSpec>,
    levels: mandatoryLevels as ReadonlyMap<string, NonNullable<PriorityLevelConfiguration['spec']>>,
  };
  return new FlowControl({ clock, observer: metrics.flows, seats, mandatory });
}

/**
 * Fills the flow control from the watch caches of its objects, and keeps it up to date: writes of this server have their
 * effect before their response. Calls `onChange` after each change. Resolves once all objects are loaded.
 */
export async function followFlowObjects(
  registry: Registry,
  { domain }: Names,
  flowControl: FlowControl,
  onChange: () => void,
): Promise<void> {
  const group = `flowcontrol.apiserver.${domain}`;
  const served = new Set(registry.resources.map(({ id }) => formatGroupResource(id)));
  const follow = async <T extends FlowSchema | PriorityLevelConfiguration>(
    resource: string,
    set: (name: string, object: T | undefined) => void,
  ) => {
    const id = formatGroupResource({ group, resource });
    if (!served.has(id)) return;
    await registry.follow(id, (_, name, object) => {
      set(name, object as T | undefined);
      onChange();
    });
  };
  await Promise.all([
    follow<FlowSchema>('flowschemas', (name, object) =>
      flowControl.setSchema(name, object && { uid: object.metadata?.uid ?? '', spec: object.spec ?? {} }),
    ),
    follow<PriorityLevelConfiguration>('prioritylevelconfigurations', (name, object) =>
      flowControl.setLevel(name, object && { uid: object.metadata?.uid ?? '', spec: object.spec ?? {} }),
    ),
  ]);
}

import type { ApiObject, JsonObject } from '../../meta/index.ts';
import type { Allocator } from '../../registry/index.ts';
import { services } from '../core/services.ts';
import { created, replaced } from './kind.ts';

/** An allocator of these values, in their order. */
function poolOf(values: readonly string[]) {
  const used = new Set<string>();
  const pool: Allocator = {
    allocate: async (value) => {
      if (!values.includes(value)) return 'not one of them';
      if (used.has(value)) return 'taken';
      used.add(value);
      return undefined;
    },
    allocateNext: async () => {
      const free = values.find((value) => !used.has(value));
      if (free !== undefined) used.add(free);
      return free;
    },
    release: async (value) => void used.delete(value),
  };
  return { pool, used };
}

export const v4 = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
const v6 = ['fd00::1', 'fd00::2', 'fd00::3'];
export const ports = ['30000', '30001', '30002', '30003'];

/** A cluster with these families, in which services allocate cluster IPs and node ports. */
export function cluster(...families: ('IPv4' | 'IPv6')[]) {
  const poolsByName = new Map([
    ...families.map((family) => [family, poolOf(family === 'IPv4' ? v4 : v6)] as const),
    ['nodePorts', poolOf(ports)] as const,
  ]);
  const pools = new Map([...poolsByName].map(([name, { pool }]) => [name, pool]));
  const claim = async (object: ApiObject | undefined, old?: ApiObject) => {
    const errors = (await services.strategy.allocate?.(object, old, pools)) ?? [];
    return errors.map(({ field, message }) => `${field}: ${message}`);
  };
  return {
    used: () => Object.fromEntries([...poolsByName].map(([name, { used }]) => [name, [...used].sort()])),
    /** The spec of a created service, or its errors. */
    create: async (spec: JsonObject) => {
      const object = created(services, { spec: withPorts(spec) });
      const errors = await claim(object);
      return { object, spec: object['spec'] as JsonObject, errors };
    },
    /** The spec of an updated service, or its errors. */
    update: async (old: ApiObject, spec: JsonObject) => {
      const object = replaced(services, old, { spec: withPorts(spec) });
      const errors = await claim(object, old);
      return { object, spec: object['spec'] as JsonObject, errors };
    },
    remove: (old: ApiObject) => claim(undefined, old),
  };
}

const withPorts = (spec: JsonObject): JsonObject => ({ ports: [{ port: 80 }], ...spec });

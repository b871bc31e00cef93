import {
  type ApiObject,
  atOnce,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopy,
  StatusError,
} from '../../meta/index.ts';
import { compile, type StructSchema } from '../../schema/index.ts';
import { applyConfiguration } from '../apply.ts';
import { type FieldSet, leaf, pathsOf, recursiveDifference } from '../field-set.ts';
import { pathText } from '../path.ts';
import type { ManagedType } from '../transition.ts';
import { updateManagedFields } from '../update.ts';
import { names, thing } from './thing.ts';

/** One write of a story; `at` is its second. */
export type Step = (world: World) => void;

interface Options {
  readonly version?: string;
  readonly subresource?: string;
}

/** An object and everything that the writes to it depend on. */
export class World {
  live: ApiObject | undefined;
  schemas = new Map<string, StructSchema>([['v1', thing()]]);
  /** Conversion between versions, applied to the copy of an object. */
  convert = (object: JsonObject, _to: string): JsonObject => object;
  /** What a write to the object, or to a subresource, leaves as it is. */
  kept: (subresource: string) => FieldSet = () => leaf;
  seconds = 0;

  get now(): string {
    return `2024-01-01T00:00:${String(this.seconds).padStart(2, '0')}Z`;
  }

  type(subresource = ''): ManagedType {
    return {
      names,
      version: (apiVersion) => {
        const schema = this.schemas.get(apiVersion);
        if (schema === undefined) return undefined;
        return {
          schema,
          writable: (fields) => recursiveDifference(fields, this.kept(subresource)),
          convert: (o) => this.#in(o, apiVersion),
          normalize: (o) => this.decode(o),
        };
      },
    };
  }

  #in(object: JsonObject, apiVersion: string): ApiObject {
    if (object['apiVersion'] === apiVersion) return object as ApiObject;
    return { ...this.convert(jsonCopy(object), apiVersion), apiVersion } as ApiObject;
  }

  /** The live object in a version. */
  in(apiVersion: string): ApiObject | undefined {
    return this.live && this.#in(this.live, apiVersion);
  }

  decode(object: JsonObject): ApiObject {
    const schema = this.schemas.get(object['apiVersion'] as string);
    if (schema === undefined) throw new Error('no such version');
    return compile(schema, names).decode(object).value as ApiObject;
  }
}

const whole = (apiVersion: string, body: JsonObject): JsonObject => {
  const { metadata, ...rest } = body;
  return { kind: 'Thing', apiVersion, metadata: { name: 't', ...(isJsonObject(metadata) ? metadata : {}) }, ...rest };
};

const writer = (world: World, manager: string, { version = 'v1', subresource }: Options) => {
  world.seconds++;
  return { manager, apiVersion: version, now: world.now, ...(subresource === undefined ? {} : { subresource }) };
};

function applied(manager: string, body: JsonObject, force: boolean, options: Options): Step {
  return (world) => {
    const by = writer(world, manager, options);
    const type = world.type(options.subresource);
    const object = atOnce(
      applyConfiguration({
        type,
        writer: by,
        live: world.in(by.apiVersion),
        applyConfig: whole(by.apiVersion, body),
        force,
      }),
    );
    world.live = object;
  };
}

export const apply = (manager: string, body: JsonObject, options: Options = {}): Step =>
  applied(manager, body, false, options);
export const forceApply = (manager: string, body: JsonObject, options: Options = {}): Step =>
  applied(manager, body, true, options);

/** Replaces the object, whose managedFields stay unless the body gives others. */
export function update(manager: string, body: JsonObject, options: Options = {}): Step {
  return (world) => {
    const by = writer(world, manager, options);
    const before = world.in(by.apiVersion);
    const after = world.decode(whole(by.apiVersion, body));
    const type = world.type(options.subresource);
    const managedFields = atOnce(updateManagedFields({ type, writer: by, before, after }));
    const { managedFields: _, ...metadata } = after.metadata;
    after.metadata = (managedFields === undefined ? metadata : { ...metadata, managedFields }) as typeof after.metadata;
    world.live = after;
  };
}

/** Changes the schema of a version between two writes. */
export const schema = (changed: StructSchema, version = 'v1'): Step => {
  return (world) => void world.schemas.set(version, changed);
};

export const set = (change: (world: World) => void): Step => change;

export interface Story {
  readonly name: string;
  readonly steps: readonly Step[];
  /** What the object holds beside its identity; not looked at when absent. */
  readonly object?: JsonObject;
  /** The paths that each manager owns, by `name` for appliers and `name (Update)`, with the subresource behind a slash. */
  readonly owners?: { readonly [manager: string]: string };
  /** What the last step fails with: manager and path of each conflict. */
  readonly conflicts?: readonly string[];
  /** What the last step fails with: its message. */
  readonly error?: string | RegExp;
}

export interface Ending {
  readonly object: JsonObject;
  readonly owners: { readonly [manager: string]: string };
  readonly error: StatusError | undefined;
  readonly world: World;
}

export function play(steps: readonly Step[]): Ending {
  const world = new World();
  let error: StatusError | undefined;
  for (const [i, step] of steps.entries()) {
    try {
      step(world);
    } catch (thrown) {
      if (!(thrown instanceof StatusError) || i < steps.length - 1) throw thrown;
      error = thrown;
    }
  }
  return { object: contentOf(world.live), owners: ownersOf(world.live), error, world };
}

/** An object without its identity and ownership. */
export function contentOf(object: ApiObject | undefined): JsonObject {
  if (object === undefined) return {};
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = object;
  const { name: _name, managedFields: _managed, ...more } = metadata;
  return Object.keys(more).length === 0 ? rest : { metadata: more as JsonObject, ...rest };
}

/** The paths of every owner, by name. */
export function ownersOf(object: ApiObject | undefined): { [manager: string]: string } {
  const entries: { [manager: string]: string } = {};
  for (const entry of (object?.metadata.managedFields ?? []) as JsonObject[]) {
    const { manager, subresource } = entry as { manager: string; subresource?: string };
    const by = subresource === undefined ? manager : `${manager}/${subresource}`;
    const paths = [...pathsOf((entry['fieldsV1'] ?? {}) as FieldSet)].map(pathText);
    entries[entry['operation'] === 'Update' ? `${by} (Update)` : by] = paths.join(' ');
  }
  return entries;
}

/** `name path` of each conflict that an error tells of. */
export function conflictsOf(error: StatusError | undefined): string[] {
  return (error?.details?.causes ?? []).map(
    ({ message = '', field }) => `${message.replace('conflict with ', '')} ${field}`,
  );
}

/** An entry of managedFields as a client spells it. */
export const entry = (manager: string, fieldsV1: JsonObject, more: JsonObject = {}): Json => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...more,
});

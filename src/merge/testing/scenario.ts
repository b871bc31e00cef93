import {
  type ApiObject,
  atOnce,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopy,
  oneStep,
  StatusError,
} from '../../meta/index.ts';
import { compile, type StructSchema } from '../../schema/index.ts';
import { type FieldSet, leaf, pathsOf } from '../field-set.ts';
import { pathText } from '../path.ts';
import type { ManagedType } from '../transition.ts';
import { updateManagedFields } from '../update.ts';
import { applyAtOnce } from './apply.ts';
import { names, thing } from './thing.ts';

/** One write of a scenario. */
export type Step = (fixture: Fixture) => void;

interface Options {
  readonly version?: string;
  readonly subresource?: string;
}

/** An object, its type and the clock. */
export class Fixture {
  live: ApiObject | undefined;
  schemas = new Map<string, StructSchema>([['v1', thing()]]);
  /** Conversion between versions, applied to the copy of an object. */
  convert = (object: JsonObject, _to: string): JsonObject => object;
  /** The reset fields of the main resource or of a subresource. */
  kept: (subresource: string) => FieldSet = () => leaf;
  seconds = 0;

  get now(): string {
    return `2024-01-01T00:00:${String(this.seconds).padStart(2, '0')}Z`;
  }

  type(subresource = ''): ManagedType {
    return {
      names,
      fieldFilter: { exclude: this.kept(subresource) },
      version: (apiVersion) => {
        const schema = this.schemas.get(apiVersion);
        if (schema === undefined) return undefined;
        return {
          schema,
          convert: (o) => oneStep(() => this.#in(o, apiVersion)),
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

const writer = (fixture: Fixture, manager: string, { version = 'v1', subresource }: Options) => {
  fixture.seconds++;
  return { manager, apiVersion: version, now: fixture.now, ...(subresource === undefined ? {} : { subresource }) };
};

function applied(manager: string, body: JsonObject, force: boolean, options: Options): Step {
  return (fixture) => {
    const by = writer(fixture, manager, options);
    const type = fixture.type(options.subresource);
    const object = applyAtOnce(
      {
        type,
        writer: by,
        live: fixture.in(by.apiVersion),
        applyConfig: whole(by.apiVersion, body),
        force,
      },
      (o) => fixture.decode(o),
    );
    fixture.live = object;
  };
}

export const apply = (manager: string, body: JsonObject, options: Options = {}): Step =>
  applied(manager, body, false, options);
export const forceApply = (manager: string, body: JsonObject, options: Options = {}): Step =>
  applied(manager, body, true, options);

/** Replaces the object; its managedFields stay unless the body sets them. */
export function update(manager: string, body: JsonObject, options: Options = {}): Step {
  return (fixture) => {
    const by = writer(fixture, manager, options);
    const before = fixture.in(by.apiVersion);
    const after = fixture.decode(whole(by.apiVersion, body));
    const type = fixture.type(options.subresource);
    const managedFields = atOnce(updateManagedFields({ type, writer: by, before, after }));
    const { managedFields: _, ...metadata } = after.metadata;
    after.metadata = (managedFields === undefined ? metadata : { ...metadata, managedFields }) as typeof after.metadata;
    fixture.live = after;
  };
}

/** Changes the schema of a version between two writes. */
export const schema = (changed: StructSchema, version = 'v1'): Step => {
  return (fixture) => void fixture.schemas.set(version, changed);
};

export const set = (change: (fixture: Fixture) => void): Step => change;

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
  /** The object without its identity; not checked when absent. */
  readonly object?: JsonObject;
  /**
   * The paths that each manager owns, by `name` for appliers and `name (Update)`, with the subresource behind a slash.
   */
  readonly managers?: { readonly [manager: string]: string };
  /** The conflicts of the last step: manager and path. */
  readonly conflicts?: readonly string[];
  /** The error message of the last step. */
  readonly error?: string | RegExp;
}

export interface Outcome {
  readonly object: JsonObject;
  readonly managers: { readonly [manager: string]: string };
  readonly error: StatusError | undefined;
  readonly fixture: Fixture;
}

export function run(steps: readonly Step[]): Outcome {
  const fixture = new Fixture();
  let error: StatusError | undefined;
  for (const [i, step] of steps.entries()) {
    try {
      step(fixture);
    } catch (thrown) {
      if (!(thrown instanceof StatusError) || i < steps.length - 1) throw thrown;
      error = thrown;
    }
  }
  return { object: contentOf(fixture.live), managers: managedPaths(fixture.live), error, fixture };
}

/** An object without its identity and managedFields. */
export function contentOf(object: ApiObject | undefined): JsonObject {
  if (object === undefined) return {};
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = object;
  const { name: _name, managedFields: _managed, ...more } = metadata;
  return Object.keys(more).length === 0 ? rest : { metadata: more as JsonObject, ...rest };
}

/** The paths that each manager owns. */
export function managedPaths(object: ApiObject | undefined): { [manager: string]: string } {
  const entries: { [manager: string]: string } = {};
  for (const entry of (object?.metadata.managedFields ?? []) as JsonObject[]) {
    const { manager, subresource } = entry as { manager: string; subresource?: string };
    const by = subresource === undefined ? manager : `${manager}/${subresource}`;
    const paths = [...pathsOf((entry['fieldsV1'] ?? {}) as FieldSet)].map(pathText).sort();
    entries[entry['operation'] === 'Update' ? `${by} (Update)` : by] = paths.join(' ');
  }
  return entries;
}

/** `name path` of each conflict of an error. */
export function conflictsOf(error: StatusError | undefined): string[] {
  return (error?.details?.causes ?? []).map(
    ({ message = '', field }) => `${message.replace('conflict with ', '')} ${field}`,
  );
}

/** An entry of managedFields as a client sends it. */
export const entry = (manager: string, fieldsV1: JsonObject, more: JsonObject = {}): Json => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...more,
});

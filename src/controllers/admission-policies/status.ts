import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkTypes, type TypeLookup, typeOfCustomKind, typeOfStruct } from '../../admission/index.ts';
import { type Client, keyOf, readJson } from '../../client/index.ts';
import {
  formatGroupVersion,
  type GroupVersionKind,
  isJsonObject,
  isStatus,
  type JsonObject,
  type Names,
  parseGroupVersion,
} from '../../meta/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import type { ValidatingAdmissionPolicySpec } from '../../types/admissionregistration-v1.ts';
import { findType } from '../../types/find-type.ts';
import type { ServedResources } from '../metadata/discovery.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';

/** Tells in the status of policies which of their expressions cannot hold for the kinds that they are for. */
export const policyStatusController: Controller = {
  name: 'validatingadmissionpolicy-status-controller',
  needs: [kinds.validatingAdmissionPolicies],
  account: 'validatingadmissionpolicy-status-controller',
  start(context) {
    const { client, informers, metadata, names } = context;
    const policies = informers.of(kinds.validatingAdmissionPolicies);
    const isChecked = ({ metadata: { generation = 0 }, status }: NonNullable<ReturnType<typeof policies.getByKey>>) =>
      (status?.observedGeneration ?? 0) >= generation;
    const queue = context.queue('validatingadmissionpolicy-status', async (key) => {
      const policy = policies.getByKey(key);
      if (policy === undefined || isChecked(policy)) return;
      const { spec = {} } = policy;
      const lookup = await typesFor(spec, await metadata.discover(), client, names);
      const checking = checkTypes(spec, lookup);
      let step = checking.next();
      for (; step.done !== true; step = checking.next()) await nextTurn();
      const expressionWarnings = step.value;
      const status = {
        ...policy.status,
        observedGeneration: policy.metadata.generation ?? 0,
        typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
      };
      try {
        await client
          .kind(kinds.validatingAdmissionPolicies)
          .subresource('status')
          .update({ ...policy, status });
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
      }
    });
    policies.onChange((policy) => {
      if (policy !== undefined && !isChecked(policy)) queue.add(keyOf(policy));
    });
  },
};

/** The types of the kinds that a policy names; those of custom kinds from the OpenAPI documents of their group versions. */
async function typesFor(
  spec: ValidatingAdmissionPolicySpec,
  served: ServedResources,
  client: Client,
  names: Names,
): Promise<TypeLookup> {
  const schemas = new Map<string, JsonObject>();
  for (const apiVersion of versionsOf(spec)) {
    if (isBuiltIn(apiVersion, names)) continue;
    for (const [kind, schema] of await readSchemas(client, apiVersion, names))
      schemas.set(`${apiVersion} ${kind}`, schema);
  }
  return {
    kindOf: (group, version, resource) => {
      const servedResource = served.findResource(formatGroupVersion({ group, version }), resource);
      return servedResource && { group, version, kind: servedResource.kind };
    },
    typeOf: (kind) => {
      const name = `${kind.group}/${kind.version}.${kind.kind}`;
      const builtIn = builtInType(kind, names);
      if (builtIn !== undefined) return typeOfStruct(builtIn, names, name);
      const schema = schemas.get(`${formatGroupVersion(kind)} ${kind.kind}`);
      return schema && typeOfCustomKind(schema, names, name);
    },
  };
}

/** The group versions whose kinds a policy names. */
function versionsOf({ paramKind, matchConstraints }: ValidatingAdmissionPolicySpec): Set<string> {
  const result = new Set(paramKind?.apiVersion === undefined ? [] : [paramKind.apiVersion]);
  for (const { apiGroups = [], apiVersions = [] } of matchConstraints?.resourceRules ?? []) {
    for (const group of apiGroups) {
      for (const version of apiVersions) {
        if (group !== '*' && version !== '*') result.add(formatGroupVersion({ group, version }));
      }
    }
  }
  return result;
}

/** Groups of built-in kinds have no domain, or that of the server. */
function isBuiltIn(apiVersion: string, { domain }: Names): boolean {
  const { group = '' } = parseGroupVersion(apiVersion) ?? {};
  return !group.includes('.') || group.endsWith(`.${domain}`);
}

/** Undefined for a kind that is not built in. */
function builtInType({ group, version, kind }: GroupVersionKind, names: Names): StructSchema | undefined {
  if (!isBuiltIn(formatGroupVersion({ group, version }), names)) return undefined;
  const [first = ''] = group.split('.');
  return findType(`${first === '' ? 'core' : first}/${version}.${kind}`);
}

/** The schemas of a group version, by the kinds that they are of; none where it is not served. */
async function readSchemas(client: Client, apiVersion: string, names: Names): Promise<Map<string, JsonObject>> {
  const path = apiVersion.split('/').map(encodeURIComponent).join('/');
  const result = new Map<string, JsonObject>();
  let document: unknown;
  try {
    document = await readJson(await client.request({ method: 'GET', url: `/openapi/v3/apis/${path}`, headers: {} }));
  } catch (error) {
    if (isStatus(error, 404)) return result;
    throw error;
  }
  const { components } = document as { components?: { schemas?: { readonly [name: string]: JsonObject } } };
  for (const schema of Object.values(components?.schemas ?? {})) {
    const kindsOf = schema[`${names.extension}group-version-kind`];
    for (const one of Array.isArray(kindsOf) ? kindsOf : []) {
      const { group, version, kind } = isJsonObject(one) ? one : {};
      if (typeof group !== 'string' || typeof version !== 'string' || typeof kind !== 'string') continue;
      if (formatGroupVersion({ group, version }) === apiVersion) result.set(kind, schema);
    }
  }
  return result;
}

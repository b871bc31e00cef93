import { describe, expect, it } from 'vitest';
import { atOnce, type GroupVersionKind, type JsonObject } from '../../meta/index.ts';
import type { ValidatingAdmissionPolicySpec } from '../../types/admissionregistration-v1.ts';
import { Deployment } from '../../types/apps-v1.ts';
import { ConfigMap, Pod } from '../../types/core-v1.ts';
import { names } from '../testing/initializer.ts';
import { typeOfCustomKind, typeOfStruct } from './schema-types.ts';
import { checkTypes, type TypeLookup } from './type-checking.ts';

const custom: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        share: { type: 'number' },
        at: { type: 'string', format: 'date-time' },
        'max-count': { type: 'integer' },
        port: { 'x-kubernetes-int-or-string': true },
        tags: { type: 'array', items: { type: 'string' } },
        by: { type: 'object', additionalProperties: { type: 'boolean' } },
        template: { type: 'object', 'x-kubernetes-embedded-resource': true },
        open: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};

const kinds = new Map([
  ['apps/v1/deployments', 'Deployment'],
  ['/v1/pods', 'Pod'],
  ['/v1/configmaps', 'ConfigMap'],
  ['a.b/v1/things', 'Thing'],
]);
const types: TypeLookup = {
  kindOf: (group, version, resource) => {
    const kind = kinds.get(`${group}/${version}/${resource}`);
    return kind === undefined ? undefined : { group, version, kind };
  },
  typeOf: ({ kind }: GroupVersionKind) => {
    const schema = { Deployment, Pod, ConfigMap }[kind];
    if (schema !== undefined) return typeOfStruct(schema, names, kind);
    return kind === 'Thing' ? typeOfCustomKind(custom, names, kind) : undefined;
  },
};

const rule = (group: string, ...resources: string[]) => ({ apiGroups: [group], apiVersions: ['v1'], resources });

type Part = Partial<ValidatingAdmissionPolicySpec> & { readonly rules?: ReturnType<typeof rule>[] };

function warnings(expressions: readonly string[], { rules = [rule('apps', 'deployments')], ...more }: Part = {}) {
  const spec = {
    matchConstraints: { resourceRules: rules },
    validations: expressions.map((expression) => ({ expression })),
    ...more,
  };
  return atOnce(checkTypes(spec, types)).map(({ fieldRef, warning }) => [fieldRef, warning]);
}

describe('warnings about types', () => {
  it('name the field, the kind and the place', () => {
    const found = warnings(['object.spec.replicas < 5', 'object.spec.nothing == 1', "object.spec.replicas == 'x'"]);
    expect(found).toEqual([
      [
        'spec.validations[1].expression',
        "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'nothing'\n | object.spec.nothing == 1\n | ...........^\n",
      ],
      [
        'spec.validations[2].expression',
        "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_' applied to '(int, string)'\n | object.spec.replicas == 'x'\n | .....................^\n",
      ],
    ]);
  });

  it('of several kinds are one text, in the order of the kinds', () => {
    const rules = [rule('apps', 'deployments'), rule('', 'pods', 'pods/status')];
    const [[field, text] = []] = warnings(['object.nope == 1'], { rules });
    expect(field).toBe('spec.validations[0].expression');
    expect(text?.match(/^\S+, Kind=\w+/gm)).toEqual(['/v1, Kind=Pod', 'apps/v1, Kind=Deployment']);
    expect(text).toContain('^\n\napps/v1');
  });

  it.each([
    ["object.metadata.labels['a'] == 'b' && object.metadata.namespace == 'n'"],
    ["object.metadata.creationTimestamp < timestamp('2024-01-01T00:00:00Z')"],
    ["object.spec.template.spec.containers.all(c, c.image.startsWith('a') && c.resources.limits['cpu'] != '1')"],
    ['object.spec.strategy.rollingUpdate.maxSurge == 1 || object.spec.strategy.rollingUpdate.maxSurge == "1"'],
    ['oldObject.spec.replicas <= object.spec.replicas'],
    ["request.operation == 'CREATE' && authorizer.path('/').check('get').allowed()"],
  ])('are not about %s', (expression) => {
    expect(warnings([expression])).toEqual([]);
  });

  it('are about custom kinds too', () => {
    const rules = [rule('a.b', 'things')];
    const valid = [
      "object.kind == 'Thing' && object.metadata.name == 'x' && object.spec.size > 1 && object.spec.share > 0.5",
      "object.spec.at < timestamp('2024-01-01T00:00:00Z') && object.spec.max__dash__count == 1",
      "object.spec.port == 1 || object.spec.port == 'http'",
      "object.spec.tags.exists(t, t == 'x') && object.spec.by['me'] && object.spec.template.metadata.name == ''",
    ];
    expect(warnings(valid, { rules })).toEqual([]);
    const invalid = [
      'object.spec.open == 1',
      "object.spec.size == ''",
      'object.spec.tags[0] == 1',
      'object.status.x == 1',
    ];
    expect(warnings(invalid, { rules })).toHaveLength(4);
  });

  it('are about parameters, variables and message expressions', () => {
    const more = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      variables: [{ name: 'n', expression: 'object.spec.replicas' }],
      validations: [
        { expression: "params.data['a'] == 'b' && variables.n == 1", messageExpression: "'got ' + variables.n" },
        { expression: 'params.nope == 1' },
      ],
    };
    expect(warnings([], more).map(([field]) => field)).toEqual([
      'spec.validations[0].messageExpression',
      'spec.validations[1].expression',
    ]);
    expect(warnings(['params.any == 1'], { paramKind: { apiVersion: 'v1', kind: 'Unknown' } })).toEqual([]);
  });

  it.each([
    ['a wildcard', rule('*', 'deployments')],
    ['a resource that is not served', rule('apps', 'others')],
    ['subresources alone', rule('apps', 'deployments/scale', '*')],
  ])('are absent for %s', (_, one) => {
    expect(warnings(['object.nope == 1'], { rules: [one] })).toEqual([]);
  });

  it('are about ten kinds at most', () => {
    const asked: string[] = [];
    const many: TypeLookup = {
      kindOf: (group, version, resource) => ({ group, version, kind: resource }),
      typeOf: ({ kind }) => {
        asked.push(kind);
        return undefined;
      },
    };
    const resources = Array.from({ length: 20 }, (_, i) => `r${String(i).padStart(2, '0')}`);
    atOnce(checkTypes({ matchConstraints: { resourceRules: [rule('x', ...resources)] } }, many));
    expect(asked).toEqual(resources.slice(0, 10));
  });
});

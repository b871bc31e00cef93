import { describe, expect, it } from 'vitest';
import { Budget, boolType, nullType, stringType } from '../../cel/index.ts';
import { atOnce, type JsonObject, type Turns } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import type { AccessAuthorizer } from '../types.ts';
import { Activation, type ActivationOptions, RequestValues } from './activation.ts';
import { type Compilation, ExpressionCompiler, type ExpressionOptions } from './compile.ts';
import { evaluate, maxPolicyCost, OutOfBudget } from './evaluate.ts';
import { compileMatchConditions, matchesConditions } from './match-conditions.ts';

const deployment: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', labels: { app: 'x' } },
  spec: { replicas: 3, ratio: 0.5, big: 9_007_199_254_740_993n, selector: null },
};
const apps = { group: 'apps', version: 'v1' };

function requestOf(
  object: JsonObject | undefined = deployment,
  {
    authorize = () => ({ allowed: false, reason: '' }),
    name = 'd',
    turns,
  }: { authorize?: AccessAuthorizer; name?: string; turns?: Turns } = {},
): RequestValues {
  return new RequestValues({
    request: {
      operation: 'CREATE',
      kind: { ...apps, version: 'v1beta1', kind: 'Deployment' },
      resource: { ...apps, version: 'v1beta1', resource: 'deployments' },
      subresource: '',
      namespace: 'ns',
      name,
      user: { name: 'ann', groups: ['g'], extra: { 'example.com/k': ['v'] } },
      dryRun: false,
      turns,
      options: () => ({ kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'm' }),
    },
    matched: { kind: { ...apps, kind: 'Deployment' }, resource: { ...apps, resource: 'deployments' } },
    object,
    oldObject: undefined,
    authorize,
  });
}

const newCompiler = (variables: { readonly [name: string]: string } = {}, params = true) => {
  const compiler = new ExpressionCompiler({ params, composed: Object.keys(variables).length > 0 });
  for (const [name, source] of Object.entries(variables)) atOnce(compiler.addVariableInSteps(name, source, false));
  return compiler;
};
const compile = (source: string, options: Partial<ExpressionOptions> = {}, compiler = newCompiler()): Compilation =>
  atOnce(compiler.compileInSteps(source, { isStored: false, ...options }));

async function result(source: string, options: ActivationOptions = {}, request = requestOf()) {
  const activation = new Activation(request, options);
  const { value, failure } = await evaluate(
    compile(source, {}, options.compiler),
    activation,
    new Budget(maxPolicyCost),
  );
  return failure ?? value;
}

describe('variables', () => {
  it.each([
    ["object.spec.replicas == 3 && object.metadata.labels['app'] == 'x'", true],
    ['type(object.spec.ratio) == double && object.spec.big == 9007199254740993', true],
    ['object.spec.selector == null && oldObject == null', true],
    ["has(object.metadata.labels) && !('a' in object.metadata.labels)", true],
    ["request.userInfo.username == 'ann' && request.userInfo.groups == ['g']", true],
    ["request.userInfo.extra['example.com/k'][0]", 'v'],
    ['has(request.userInfo.uid) || has(request.subResource)', false],
    ["request.kind.version + ' ' + request.requestKind.version", 'v1 v1beta1'],
    ["request.resource.version + ' ' + request.requestResource.version", 'v1 v1beta1'],
    ["request.operation + request.name + request.namespace + (request.dryRun ? '!' : '')", 'CREATEdns'],
    ["request.options.fieldManager == 'm'", true],
    ['params == null && namespaceObject == null', true],
    ['object.spec.nope > 1', "expression 'object.spec.nope > 1' resulted in error: no such key: nope"],
  ])('%s', async (source, expected) => {
    expect(await result(source)).toBe(expected);
  });

  it('the namespace has the fields that expressions may read, with their types', async () => {
    const metadata = { name: 'ns', uid: 'u', creationTimestamp: '2024-01-02T03:04:05Z', managedFields: [] };
    const namespaceObject = { metadata, status: { phase: 'Active' } };
    const source =
      'namespaceObject.metadata.name + namespaceObject.metadata.UID + namespaceObject.status.phase + string(namespaceObject.metadata.creationTimestamp.getFullYear())';
    expect(await result(source, { namespaceObject })).toBe('nsuActive2024');
    expect(compile('namespaceObject.metadata.managedFields')).toMatchObject({
      message: expect.stringContaining("undefined field 'managedFields'"),
    });
  });

  it('params are those of the binding', async () => {
    expect(await result('int(params.data.max) < object.spec.replicas', { params: { data: { max: '2' } } })).toBe(true);
  });
});

describe('compilation', () => {
  it.each([
    ["'text'", [boolType], 'must evaluate to bool but got string'],
    ['object.spec.x', [boolType], 'must evaluate to bool but got dyn'],
    ['null', [boolType], 'must evaluate to bool but got null_type'],
    ["duration('1s')", [stringType], 'must evaluate to string but got google.protobuf.Duration'],
    ['[1]', [stringType, nullType], 'must evaluate to one of [string null_type] but got list(int)'],
    ['null', [stringType, nullType], undefined],
  ])('of %s', (source, returns, message) => {
    const compiled = compile(source, { returns });
    expect('message' in compiled ? compiled.message : undefined).toBe(message);
  });

  it('only policies with parameters have params, only some expressions have the authorizer', () => {
    const undeclared = (name: string) => ({
      message: expect.stringContaining(`undeclared reference to '${name}'`),
    });
    expect(compile('params.x', {}, newCompiler({}, false))).toMatchObject(undeclared('params'));
    expect(compile('authorizer', { authorizer: false })).toMatchObject(undeclared('authorizer'));
    expect(compile('variables.x')).toMatchObject(undeclared('variables'));
  });

  it('a constant that cannot be converted is an internal fault', () => {
    expect(compile("int('x') == 1")).toMatchObject({
      isInternal: true,
      message: expect.stringContaining('program instantiation failed: '),
    });
  });
});

describe('variables of a policy', () => {
  it('have types, and those before them', async () => {
    const compiler = newCompiler({
      n: 'object.spec.replicas + 0',
      texts: "['a', 'b']",
      both: 'variables.texts + [string(variables.n)]',
    });
    expect(await result("variables.both == ['a', 'b', '3']", { compiler })).toBe(true);
    expect(compile('variables.texts[0] + 1', {}, compiler)).toMatchObject({
      message: expect.stringContaining('found no matching overload'),
    });
    expect(compile('variables.later', {}, compiler)).toMatchObject({
      message: expect.stringContaining("undefined field 'later'"),
    });
  });

  it('are evaluated when they are read, once, and their failures can be absorbed', async () => {
    const compiler = newCompiler({ fails: 'object.nope', list: 'object.spec.big' });
    const failure = 'composited variable "fails" fails to evaluate: no such key: nope';
    expect(await result('true || variables.fails', { compiler })).toBe(true);
    expect(await result('variables.fails == 1', { compiler })).toBe(
      `expression 'variables.fails == 1' resulted in error: ${failure}`,
    );
    expect(await result('has(variables.fails)', { compiler })).toBe(true);
    const costOf = async (source: string) => {
      const budget = new Budget(maxPolicyCost);
      await evaluate(compile(source, {}, compiler), new Activation(requestOf(), { compiler }), budget);
      return maxPolicyCost - budget.remaining;
    };
    // The variable costs 3: `object`, and two fields.
    expect(await costOf('variables.list == 1')).toBe(3 + 3);
    expect(await costOf('variables.list == variables.list')).toBe(3 + 5);
  });

  it('a chain of variables that is too long fails, and types that nest too deeply are dyn', async () => {
    const chain: { [name: string]: string } = { v0: '[object]' };
    for (let i = 1; i < 5000; i++) chain[`v${i}`] = `[variables.v${i - 1}]`;
    const compiler = newCompiler(chain);
    expect(await result('size(variables.v4999) == 1', { compiler })).toContain('the variables nest too deeply');
    expect(await result('size(variables.v50) == 1', { compiler })).toBe(true);
  });
});

describe('budgets', () => {
  const numbers = Array.from({ length: 1000 }, (_, i) => i);
  const expensive = 'object.items.all(x, object.items.all(y, x + y >= 0))';

  it('an expression has a limit of its own, all together another', async () => {
    const activation = new Activation(requestOf({ items: numbers }));
    const budget = new Budget(2_100_000);
    const limit = `expression '${expensive}' resulted in error: operation cancelled: actual cost limit exceeded`;
    const compiled = compile(expensive);
    expect(await evaluate(compiled, activation, budget)).toEqual({ failure: limit });
    expect(await evaluate(compiled, activation, budget)).toEqual({ failure: limit });
    await expect(async () => evaluate(compiled, activation, budget)).rejects.toThrow(OutOfBudget);
  });
});

describe('turns', () => {
  it('are those of the request, for an expression that takes long and the variables that it reads', async () => {
    const items = Array.from({ length: 20_000 }, (_, i) => i);
    const compiler = newCompiler({ large: 'object.items.filter(x, x > 9999)', few: 'variables.large.size()' });
    const costs: number[] = [];
    for (const source of ['object.items.all(x, x >= 0)', 'variables.few == 10000 && variables.few > 0']) {
      const turns = new EveryStep();
      const activation = new Activation(requestOf({ items }, { turns }), { compiler });
      const budget = new Budget(maxPolicyCost);
      expect(await evaluate(compile(source, {}, compiler), activation, budget)).toEqual({ value: true });
      expect(turns.count).toBeGreaterThanOrEqual(10);
      costs.push(maxPolicyCost - budget.remaining);
    }
    // A variable is counted once, however often it is read.
    expect(costs[1]).toBeGreaterThan(150_000);
    expect(costs[1]).toBeLessThan(200_000);
  });
});

describe('the authorizer', () => {
  it('is asked about the user, once for each question', async () => {
    const asked: string[] = [];
    const authorize: AccessAuthorizer = async ({ user, verb, resource, path }) => {
      asked.push(`${user.name} ${verb} ${resource?.resource ?? path} ${resource?.namespace ?? ''}`);
      return { allowed: verb === 'create', reason: '' };
    };
    const request = requestOf(undefined, { authorize });
    const compiler = newCompiler({ may: "authorizer.path('/healthz').check('get').allowed()" });
    const source =
      "authorizer.requestResource.check('create').allowed() && !authorizer.requestResource.check('delete').allowed() && !variables.may";
    expect(await result(source, { compiler }, request)).toBe(true);
    expect(await result(source, { compiler }, request)).toBe(true);
    expect(asked).toEqual(['ann create deployments ns', 'ann delete deployments ns', 'ann get /healthz ']);
  });

  it('an expression that asks nothing is evaluated at once', () => {
    expect(evaluate(compile('true'), new Activation(requestOf()), new Budget(10))).toEqual({ value: true });
  });
});

describe('match conditions', () => {
  const conditions = (...expressions: string[]) =>
    atOnce(compileMatchConditions(expressions.map((expression, i) => ({ name: `c${i}`, expression }))));

  it.each([
    [[], { result: 'match' }],
    [['true', "object.kind == 'Deployment'"], { result: 'match' }],
    [['object.nope == 1', 'false'], { result: 'no match', condition: 'c1' }],
    [
      ['object.nope == 1', 'object.none == 1'],
      {
        result: 'error',
        message:
          "[expression 'object.nope == 1' resulted in error: no such key: nope, expression 'object.none == 1' resulted in error: no such key: none]",
      },
    ],
    [['1'], { result: 'error', message: 'compilation error: must evaluate to bool but got int' }],
  ])('%j', async (expressions, expected) => {
    expect(await matchesConditions(conditions(...expressions), requestOf())).toEqual(expected);
  });

  it('have a budget of their own', async () => {
    const numbers = Array.from({ length: 600 }, (_, i) => i);
    const expensive = 'object.items.all(x, object.items.all(y, x + y >= 0)) || true';
    expect(
      await matchesConditions(conditions(expensive, expensive, expensive), requestOf({ items: numbers })),
    ).toMatchObject({ result: 'error', message: expect.stringContaining('running out of cost budget') });
  });
});

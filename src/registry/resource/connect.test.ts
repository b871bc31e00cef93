import { describe, expect, it } from 'vitest';
import type { AdmissionRequest } from '../../admission/index.ts';
import { statusError } from '../../meta/index.ts';
import { bool, field, int32, int64, list, string, struct, time } from '../../schema/index.ts';
import type { ConnectCall, Connection, ResourceDefinition } from '../index.ts';
import { bench, failure, how, note, notes } from '../testing/fixtures.ts';

const options = struct('core/v1.ViewOptions', {
  kind: field(9, string),
  apiVersion: field(10, string),
  path: field(1, string),
  follow: field(2, bool),
  lines: field(3, int64, { nullable: true }),
  since: field(4, time, { nullable: true }),
  words: field(5, list(string)),
  ports: field(6, list(int32)),
});
const calls: ConnectCall[] = [];
const locate: Connection['locate'] = async (call) => {
  calls.push(call);
  await call.objects.read('configmaps', call.namespace, call.name);
  return { scheme: 'https', host: '10.0.0.1', port: '1', path: '/there', peer: 'kubelet' };
};
const connection = (answers: Connection['answers']) => ({
  name: answers,
  type: 'connect' as const,
  verbs: ['get'] as const,
  kind: 'ViewOptions',
  connect: { answers, options, locate },
});
const definition: ResourceDefinition = {
  ...notes,
  subresources: [connection('text'), connection('upgrade'), connection('proxy')],
};

async function made() {
  const seen: AdmissionRequest[] = [];
  const watcher = {
    name: 'watcher',
    validate: (request: AdmissionRequest) => {
      if (request.operation === 'CONNECT') seen.push(request);
      if (request.name === 'forbidden') throw statusError.forbidden(undefined, '', 'no');
    },
  };
  const { registry, target, create } = bench({ definitions: [definition], admission: [watcher] });
  await create('configmaps', note('one'));
  const connect = (subresource: string, query = '', name = 'one') =>
    registry.connect(target('configmaps', { name, subresource }), {
      requester: how.requester,
      query: new URLSearchParams(query),
      rest: '/a/b',
      warn: () => {},
      annotate: undefined,
    });
  return { connect, seen };
}

describe('a connect request', () => {
  it('decodes its query parameters by the schema of its options', async () => {
    const { connect } = await made();
    await connect(
      'text',
      'follow&lines=-5&since=2024-01-01T02:00:00%2B02:00&words=a&words=b,c&ports=80,443&ports=1&x=y',
    );
    expect(calls.at(-1)?.options).toEqual({
      kind: 'ViewOptions',
      apiVersion: 'v1',
      follow: true,
      lines: -5,
      since: '2024-01-01T00:00:00Z',
      words: ['a', 'b,c'],
      ports: [80, 443, 1],
    });
    await connect('text', 'follow=False&lines=9223372036854775807&since=&kind=Other&__proto__=x');
    expect(calls.at(-1)?.options).toEqual({
      kind: 'ViewOptions',
      apiVersion: 'v1',
      follow: false,
      lines: 9_223_372_036_854_775_807n,
    });
  });

  // As the reference server converts parameters (apimachinery/pkg/runtime/conversion.go, apis/meta/v1/conversion.go).
  it.each([
    ['lines=', 'strconv.ParseInt: parsing "": invalid syntax'],
    ['lines=1.5', 'strconv.ParseInt: parsing "1.5": invalid syntax'],
    ['lines=9223372036854775808', 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
    [`lines=${'9'.repeat(30)}`, `strconv.ParseInt: parsing "${'9'.repeat(30)}": value out of range`],
    ['ports=80,x', 'cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax'],
    ['ports=65536', 'cannot convert to []int32: strconv.ParseUint: parsing "65536": value out of range'],
    ['since=today', 'parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006"'],
  ])('fails with %s', async (query, message) => {
    const { connect } = await made();
    expect(await failure(connect('text', query))).toMatchObject({ code: 400, reason: 'BadRequest', message });
  });

  it('passes admission with its options, unless it only reads text', async () => {
    const { connect, seen } = await made();
    await connect('text');
    expect(seen).toEqual([]);
    await connect('upgrade', 'words=a');
    await connect('proxy', 'path=/other');
    expect(seen).toMatchObject([
      {
        kind: { group: '', version: 'v1', kind: 'ViewOptions' },
        resource: { group: '', version: 'v1', resource: 'configmaps' },
        subresource: 'upgrade',
        namespace: 'ns',
        name: 'one',
        object: { kind: 'ViewOptions', apiVersion: 'v1', words: ['a'] },
      },
      { subresource: 'proxy', object: { kind: 'ViewOptions', apiVersion: 'v1', path: '/a/b' } },
    ]);
    expect(await failure(connect('upgrade', '', 'forbidden'))).toMatchObject({ code: 403 });
    expect(await failure(connect('upgrade', '', 'absent'))).toMatchObject({ code: 404 });
  });
});

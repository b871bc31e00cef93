import { describe, expect, it } from 'vitest';
import { namesFor, type StatusError, statusError } from '../../meta/index.ts';
import { findType } from '../../types/find-type.ts';
import { createCodecs } from './codecs.ts';
import {
  bodyCodec,
  failureAnswers,
  metaTransforms,
  negotiator,
  type Offer,
  patchType,
  preferredMediaType,
  wantsPretty,
} from './negotiation.ts';

const json = {
  name: 'json',
  mediaTypes: ['application/json'],
  tables: true,
  watch: { listed: 'application/json;stream=watch' },
} as const;
const yaml = { name: 'yaml', mediaTypes: ['application/yaml'], tables: true, watch: undefined } as const;
const protobuf = {
  name: 'protobuf',
  mediaTypes: ['application/vnd.kubernetes.protobuf'],
  tables: false,
  watch: { listed: 'application/vnd.kubernetes.protobuf;stream=watch' },
} as const;
const ownProtobuf = { ...protobuf, mediaTypes: ['application/vnd.orch.protobuf', ...protobuf.mediaTypes] } as const;

const names = namesFor('k8s.io');
const collection: Offer<typeof json | typeof yaml | typeof protobuf | typeof ownProtobuf> = {
  codecs: [json, yaml],
  listed: [json, yaml, protobuf],
  route: 'streams',
  transforms: metaTransforms(names),
};
const accept = negotiator(collection);
const refusal = (run: () => unknown): StatusError => {
  try {
    run();
  } catch (error) {
    return error as StatusError;
  }
  throw new Error('accepted');
};
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';

describe('Accept', () => {
  it.each<[string | undefined, string, string | undefined]>([
    [undefined, 'json', undefined],
    ['*/*', 'json', undefined],
    ['', 'json', undefined],
    ['application/*, application/xml, */*;q=0.1', 'json', undefined],
    ['application/yaml', 'yaml', undefined],
    ['text/html, application/json', 'json', undefined],
    ['application/json;q=0.2, application/yaml', 'yaml', undefined],
    ['*/*, application/yaml', 'yaml', undefined],
    ['application/json;q=0, application/yaml;q=0.1', 'yaml', undefined],
    ['application/json;q=0', 'json', undefined],
    ['application/json;q=much, application/yaml;q=0.1', 'yaml', undefined],
    ['application/json; charset=utf-8', 'json', undefined],
    ['APPLICATION/JSON', 'json', undefined],
    // Protobuf is not produced: whoever asks for it first gets the next best.
    ['application/vnd.kubernetes.protobuf, application/json', 'json', undefined],
    ['application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/json', 'json', undefined],
    [table, 'json', 'Table'],
    [`${table},application/json`, 'json', 'Table'],
    ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', 'json', undefined],
    ['application/json;v=v1;g=meta.k8s.io;as=PartialObjectMetadataList', 'json', 'PartialObjectMetadataList'],
    ['application/json;stream=watch', 'json', undefined],
  ])('%s', (header, mediaType, kind) => {
    const chosen = accept(header);
    expect([chosen.codec.name, chosen.as?.kind]).toEqual([mediaType, kind]);
    // Asked again, the same value comes from memory.
    expect(accept(header)).toBe(chosen);
  });

  it('is 406 for other media types, as recorded', () => {
    const html = refusal(() => accept('text/html'));
    expect([html.code, html.message, html.toStatus().details]).toEqual([
      406,
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
      {},
    ]);
    const old = refusal(() => accept('application/json;as=Table;g=meta.k8s.io;v=v9'));
    expect([old.code, old.reason, old.message, old.details]).toEqual([
      406,
      'NotAcceptable',
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      undefined,
    ]);
    expect(refusal(() => accept('application/vnd.kubernetes.protobuf')).code).toBe(406);
  });

  it('lists watch streams for collections only, and compares whole media types first', () => {
    const plain = negotiator({ ...collection, route: 'plain' });
    for (const header of ['application/*', 'application/xml;q=1']) {
      const { code, message, details } = refusal(() => plain(header));
      expect([code, message, details]).toEqual([
        406,
        '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
        {},
      ]);
    }
    const unrouted = negotiator({ ...collection, route: 'none' });
    expect(unrouted('application/*').codec.name).toBe('json');
    expect(refusal(() => unrouted('text/html')).message).toBe(
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  });

  // As the reference server answers.
  it('of a stream accepts what the client prefers, or nothing', () => {
    const stream = negotiator({ ...collection, streaming: true });
    expect(stream('application/json, application/yaml').codec.name).toBe('json');
    expect(stream('*/*').codec.name).toBe('json');
    for (const header of ['application/yaml', 'application/yaml, application/json']) {
      expect(refusal(() => stream(header)).message).toBe(
        'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
      );
    }
    const plainTypes = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
    for (const choose of [stream, accept]) {
      expect(refusal(() => choose('application/yaml;stream=watch')).message).toBe(
        `only the following media types are accepted: ${plainTypes}`,
      );
    }
  });

  it('remembers a bounded number of headers', () => {
    for (let i = 0; i < 2000; i++) expect(accept(`application/json;x=${i}`).codec.name).toBe('json');
    expect(accept(`application/yaml;x=${'y'.repeat(5000)}`).codec.name).toBe('yaml');
  });

  it('uses the names of the configured domain', () => {
    const own = namesFor('orch.io');
    const listed = [json, yaml, ownProtobuf];
    const choose = negotiator({ ...collection, listed, transforms: metaTransforms(own) });
    expect(choose('application/json;as=Table;g=meta.orch.io;v=v1').as?.kind).toBe('Table');
    expect(refusal(() => choose(table)).message).toContain('application/vnd.orch.protobuf');
  });
});

describe('pretty', () => {
  it.each<[string | undefined, string | undefined, boolean]>([
    ['true', undefined, true],
    ['1', undefined, true],
    ['false', 'curl/8', false],
    ['nonsense', 'curl/8', false],
    [undefined, 'curl/8.0', true],
    ['', 'Mozilla/5.0 (X11)', true],
    [undefined, 'Wget/1.2', true],
    [undefined, 'kubectl/v1.33', false],
    [undefined, undefined, false],
  ])('%s %s: %s', (parameter, agent, expected) => {
    expect(wantsPretty(parameter, agent)).toBe(expected);
  });
});

describe('Content-Type', () => {
  it.each<[string | undefined, string]>([
    [undefined, 'json'],
    ['application/json', 'json'],
    ['Application/JSON; charset=utf-8', 'json'],
    ['application/yaml', 'yaml'],
  ])('%s is %s', (header, type) => {
    expect(bodyCodec(header, collection).name).toBe(type);
  });
  it('is 415 for others, as recorded', () => {
    for (const header of ['text/plain', 'application/vnd.kubernetes.protobuf']) {
      const { code, message } = refusal(() => bodyCodec(header, collection));
      expect([code, message]).toEqual([
        415,
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      ]);
    }
  });
  it('determines the patch format, and is 415 for others as recorded', () => {
    const { patches } = createCodecs({ findType, names });
    const formatOf = (type: string, strategic: boolean) => patchType(type, patches, { strategic }).format;
    expect(formatOf('application/merge-patch+json; charset=utf-8', true)).toBe('merge');
    expect(formatOf('application/apply-patch+yaml', false)).toBe('apply');
    const plain = refusal(() => formatOf('application/json', true));
    expect([plain.code, plain.message, plain.details]).toEqual([415, '415: Unsupported Media Type', {}]);
    expect(refusal(() => formatOf('application/strategic-merge-patch+json', false)).message).toBe(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
  });
});

describe('the Status of a failure', () => {
  const { all } = createCodecs({ findType, names, cbor: true });
  const answer = failureAnswers(all);
  it.each([
    ['application/json;stream=watch', 'application/json'],
    ['application/vnd.kubernetes.protobuf;stream=watch', 'application/vnd.kubernetes.protobuf'],
    ['application/cbor;stream=watch', 'application/cbor'],
    // YAML has no watch streams.
    ['application/yaml;stream=watch', 'application/json'],
    ['application/yaml', 'application/yaml'],
    ['text/html', 'application/json'],
  ])('for a client that accepts %s is in %s', (header, expected) => {
    const { headers } = answer(statusError.notFound({ group: '', resource: 'configmaps' }, 'none'), { accept: header });
    expect(headers['content-type']).toBe(expected);
  });
});

describe('the preferred media type', () => {
  const types = ['application/json', 'application/x+protobuf'] as const;
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/x+protobuf', 'application/x+protobuf'],
    ['application/json;q=0.5, application/x+protobuf;q=0.6', 'application/x+protobuf'],
    ['text/html, */*;q=0.1, application/X+protobuf;q=0.2', 'application/x+protobuf'],
    ['*/*, application/x+protobuf', 'application/x+protobuf'],
    // As in the reference server, q=0 does not exclude a type.
    ['application/x+protobuf;q=0', 'application/x+protobuf'],
    ['text/html', undefined],
  ])('of %s is %s', (accept, expected) => {
    expect(preferredMediaType(accept, types)).toBe(expected);
  });
});

import { describe, expect, it } from 'vitest';
import { type CheckedWrite, statusError } from '../../meta/index.ts';
import { apply, bench, failure, how, merge, note, remove, update } from '../testing/fixtures.ts';

/** A registry whose config maps are checked after a plugin that sets the data `plugin`. */
function checked() {
  const seen: string[] = [];
  const check = async ({ requestName, namespace, object, oldObject, requester }: CheckedWrite) => {
    const { data } = object as { data?: { [key: string]: string } };
    const name = object.metadata.name ?? '';
    seen.push(
      [requester.name, `${namespace}/${requestName}`, name, data?.['plugin'], oldObject !== undefined].join(' '),
    );
    if (data?.['refuse'] !== undefined) throw statusError.forbidden(undefined, '', 'checked');
  };
  const admission = [
    {
      name: 'Marks',
      mutate: ({ object }: { readonly object: unknown }) => {
        const { data } = (object ?? {}) as { data?: { [key: string]: string } };
        if (data !== undefined) data['plugin'] = 'seen';
      },
    },
  ];
  return { ...bench({ writeChecks: new Map([['configmaps', check]]), admission }), seen };
}

describe('write checks', () => {
  it('see every create and update after mutating admission, dry runs too, and no delete', async () => {
    const { create, change, write, seen } = checked();
    const { name: user } = how.requester;
    await create('configmaps', note('a'));
    await create('configmaps', note('dry'), { dryRun: true });
    await create('configmaps', { ...note(''), metadata: { generateName: 'g-' } });
    await change('configmaps', 'a', update(note('a', { b: '1' })));
    await change('configmaps', 'a', merge({ data: { c: '1' } }));
    await change('configmaps', 'b', apply(note('b')));
    await write('configmaps', { name: 'a' }, remove());
    expect(seen).toEqual(
      [
        'ns/ a seen false',
        'ns/ dry seen false',
        'ns/  seen false',
        'ns/a a seen true',
        'ns/a a seen true',
        'ns/b b seen false',
      ].map((line) => `${user} ${line}`),
    );
  });

  it('refuse before validation, and nothing is stored', async () => {
    const { change, create, names } = checked();
    const invalid = note('Not_A_Name', { refuse: '' });
    expect(await failure(create('configmaps', invalid))).toMatchObject({ code: 403, message: 'forbidden: checked' });
    expect(await failure(change('configmaps', 'a', apply(note('a', { refuse: '' }))))).toMatchObject({ code: 403 });
    expect((await names('configmaps')).names).toEqual([]);
  });
});

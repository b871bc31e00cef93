import { type JsonObject, setKey, type User } from '../meta/index.ts';

/** A user as UserInfo, without empty fields. */
export function userInfoOf({ name, uid = '', groups, extra = {} }: User): JsonObject {
  const values: JsonObject = {};
  for (const key of Object.keys(extra)) setKey(values, key, [...(extra[key] ?? [])]);
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(Object.keys(values).length === 0 ? {} : { extra: values }),
  };
}

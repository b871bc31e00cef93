import type { User } from './access.ts';
import { type JsonObject, setKey } from './json.ts';

/** Returns a user as the type UserInfo of the API, without empty fields. */
export function toUserInfo({ name, uid = '', groups, extra = {} }: User): JsonObject {
  const values: JsonObject = {};
  for (const key of Object.keys(extra)) setKey(values, key, [...(extra[key] ?? [])]);
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(Object.keys(values).length === 0 ? {} : { extra: values }),
  };
}

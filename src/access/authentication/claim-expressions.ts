/** The expressions of an authentication configuration, over the claims of a token and over the user that it stands for. */
import {
  anyType,
  createEnvironment,
  JsonMapValue,
  listType,
  mapType,
  ObjectValue,
  readDyn,
  stringType,
  type Value,
} from '../../cel/index.ts';
import type { JsonObject, User } from '../../meta/index.ts';
import { compileIn, declaredType, libraries } from '../expressions.ts';

const texts = listType(stringType);
const userType = declaredType('UserInfo', {
  username: stringType,
  uid: stringType,
  groups: texts,
  extra: mapType(stringType, texts),
});

const claimsEnvironment = createEnvironment({
  variables: [{ name: 'claims', type: mapType(stringType, anyType) }],
  libraries,
});
const userEnvironment = createEnvironment({ variables: [{ name: 'user', type: userType }], libraries });

/** An expression over `claims`, or why it is not valid. */
export const compileClaims = (source: string): ReturnType<typeof compileIn> => compileIn(claimsEnvironment, source);

/** An expression over `user`, or why it is not valid. */
export const compileUser = (source: string): ReturnType<typeof compileIn> => compileIn(userEnvironment, source);

/** The variable `claims`. */
export const claimsValue = (claims: JsonObject): Value => new JsonMapValue(claims, readDyn);

/** The variable `user`, none of whose fields is absent. */
export const userValue = ({ name, uid = '', groups, extra = {} }: User): Value =>
  new ObjectValue(userType, { username: name, uid, groups: [...groups], extra: extra as unknown as JsonObject });

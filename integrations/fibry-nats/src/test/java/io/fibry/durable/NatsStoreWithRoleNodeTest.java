package io.fibry.durable;

import io.fibry.nats.NatsNetwork.Role;

/** Tests the store of a program that may not delete messages; a keeper deletes them. */
class NatsStoreWithRoleNodeTest extends StoreContract {
  NatsStoreWithRoleNodeTest() {
    super(NatsStores.maker(Role.NODE));
  }
}

package io.fibry.durable;

import io.fibry.nats.NatsNetwork.Role;

/** Tests the store of a program that may not delete messages; a keeper deletes them. */
class RoleNodeStoreInNatsTest extends StoreContract {
  RoleNodeStoreInNatsTest() {
    super(NatsStores.maker(Role.NODE));
  }
}

package io.fibry.durable;

import io.fibry.nats.NatsNetwork.Role;

/** Tests the store of a program that may not delete messages; a keeper deletes them. */
class StoreByNodeInNatsTest extends StoreContract {
  StoreByNodeInNatsTest() {
    super(NatsStores.maker(Role.NODE));
  }
}

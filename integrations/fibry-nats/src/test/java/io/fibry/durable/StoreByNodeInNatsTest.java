package io.fibry.durable;

import io.fibry.nats.NatsNetwork.Role;

/** The store of a program that may not delete: a keeper does it. */
class StoreByNodeInNatsTest extends StoreContract {
  StoreByNodeInNatsTest() {
    super(NatsStores.maker(Role.NODE));
  }
}

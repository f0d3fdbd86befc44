package io.fibry.durable;

class StoreInH2Test extends StoreContract {
  StoreInH2Test() {
    super(DatabaseStores.h2());
  }
}

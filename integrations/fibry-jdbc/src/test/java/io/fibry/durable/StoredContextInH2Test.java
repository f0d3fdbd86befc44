package io.fibry.durable;

class StoredContextInH2Test extends StoredContextContract {
  StoredContextInH2Test() {
    super(DatabaseStores.h2());
  }
}

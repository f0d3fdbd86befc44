package io.fibry.durable;

class StoreCopyInH2Test extends StoreCopyContract {
  StoreCopyInH2Test() {
    super(DatabaseStores.h2());
  }
}

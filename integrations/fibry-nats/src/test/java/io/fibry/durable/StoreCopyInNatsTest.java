package io.fibry.durable;

class StoreCopyInNatsTest extends StoreCopyContract {
  StoreCopyInNatsTest() {
    super(NatsStores.maker());
  }
}

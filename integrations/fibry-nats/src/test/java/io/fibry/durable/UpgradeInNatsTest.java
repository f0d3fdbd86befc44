package io.fibry.durable;

class UpgradeInNatsTest extends UpgradeContract {
  UpgradeInNatsTest() {
    super(NatsStores.maker());
  }
}

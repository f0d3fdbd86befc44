package io.fibry.durable;

class ClockSkewInNatsTest extends ClockSkewContract {
  ClockSkewInNatsTest() {
    super(NatsStores.maker());
  }
}

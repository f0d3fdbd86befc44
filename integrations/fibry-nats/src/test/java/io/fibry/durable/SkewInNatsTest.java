package io.fibry.durable;

class SkewInNatsTest extends ClockSkewContract {
  SkewInNatsTest() {
    super(InNats.maker());
  }
}

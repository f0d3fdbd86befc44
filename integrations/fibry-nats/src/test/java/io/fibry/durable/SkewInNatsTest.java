package io.fibry.durable;

class SkewInNatsTest extends SkewContract {
  SkewInNatsTest() {
    super(InNats.maker());
  }
}

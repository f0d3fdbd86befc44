package io.fibry.durable;

class AsideInH2Test extends AsideContract {
  AsideInH2Test() {
    super(InDatabases.h2());
  }
}

package io.fibry.durable;

class SkewInAFolderTest extends ClockSkewContract {
  SkewInAFolderTest() {
    super(Folders::new);
  }
}

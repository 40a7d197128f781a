"""What several tests share: named tiny trees, real repositories, a machine to ask things of."""
